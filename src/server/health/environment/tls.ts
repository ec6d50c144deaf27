import { AppError } from "../../errors.ts";
import { readCertificate } from "../../tls/certificate.ts";
import { judgeCertificate } from "../../tls/judge-certificate.ts";
import type { Checkup } from "./finding.ts";

/** The certificate that the server presents: its files belong together, it lasts, and its key is closed to others. */
export const tls: Checkup = {
  name: "tls",
  async find({ config: { tls: files, publicUrl }, now }) {
    if (files === undefined) return [];
    try {
      const certificate = await readCertificate(files);
      const faults = await judgeCertificate(certificate, files, { now: now(), publicUrl });
      return faults.map(({ path, ...fault }) => ({ ...fault, subject: path }));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const remedy = `Put a chain into ${files.cert} and its key into ${files.key}; a running server takes them by itself.`;
      return [{ severity: "error", subject: files.cert, message: error.message, remedy }];
    }
  },
};
