import { AppError } from "../../errors.ts";
import { readCertificate } from "../../tls/certificate.ts";
import { checkCertificate } from "../../tls/check-certificate.ts";
import type { EnvironmentCheck } from "./check.ts";

/** The certificate of the server matches its key and its name, is valid for long enough, and its key is private. */
export const tls = {
  id: "tls",
  async run({ config: { tls: files, publicUrl }, now }) {
    if (files === undefined) return [];
    try {
      const problems = await checkCertificate(await readCertificate(files), files, { now: now(), publicUrl });
      return problems.map(({ path, ...problem }) => ({ ...problem, subject: path }));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const remedy = `Write the certificate chain to ${files.cert} and its key to ${files.key}. A running server reloads them.`;
      return [{ severity: "error", subject: files.cert, message: error.message, remedy }];
    }
  },
} satisfies EnvironmentCheck;
