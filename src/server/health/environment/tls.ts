import { AppError } from "../../errors.ts";
import { readCertificate } from "../../tls/certificate.ts";
import { checkCertificate } from "../../tls/check-certificate.ts";
import type { Checkup } from "./finding.ts";

/** The certificate that the server presents: its files belong together, it lasts, and its key is closed to others. */
export const tls: Checkup = {
  name: "tls",
  async find({ config: { tls: files, publicUrl }, now }) {
    if (files === undefined) return [];
    try {
      const certificate = await readCertificate(files);
      const problems = await checkCertificate(certificate, files, { now: now(), publicUrl });
      return problems.map(({ path, fix, ...problem }) => ({ ...problem, subject: path, ...(fix && { mend: fix }) }));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const remedy = `Put a chain into ${files.cert} and its key into ${files.key}; a running server takes them by itself.`;
      return [{ severity: "error", subject: files.cert, message: error.message, remedy }];
    }
  },
};
