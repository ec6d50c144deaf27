import { chmod, stat } from "node:fs/promises";
import type { TlsFiles } from "../config/server-config.ts";
import { toTimestamp } from "../values/timestamp.ts";
import { type Certificate, coversHost } from "./certificate.ts";

const dayMs = 86_400_000;
/** Renewal tools renew a month before expiry, so two weeks before it something went wrong. */
export const expiryWarningDays = 14;

/** A problem with a certificate that can be served nevertheless. `subject` is the file with the problem. */
type CertificateProblem = ReturnType<typeof problem> & { fix?(): Promise<void> };

const problem = (severity: "warning" | "error", subject: string, message: string, remedy: string) => {
  return { severity, subject, message, remedy };
};

/** Checks the validity period; null when the certificate is valid and does not expire soon. */
export function checkValidity({ from, until }: Certificate, path: string, now: number): CertificateProblem | null {
  const remedy = `Renew it and write it to ${path}; the server loads it without a restart.`;
  if (until <= now) {
    const message = `The certificate in ${path} expired on ${toTimestamp(until)}: browsers and apps reject it.`;
    return problem("error", path, message, remedy);
  }
  if (from > now) {
    const message = `The certificate in ${path} is not valid before ${toTimestamp(from)}: browsers and apps reject it until then.`;
    return problem("error", path, message, "Check the clock of this machine, or have another certificate issued.");
  }
  const days = Math.floor((until - now) / dayMs);
  if (days >= expiryWarningDays) return null;
  const left = days === 0 ? "today" : days === 1 ? "in 1 day" : `in ${days} days`;
  const message = `The certificate in ${path} expires ${left}, ${toTimestamp(until)}.`;
  return problem("warning", path, message, remedy);
}

/** Checks validity, host name and the permissions of the key file. */
export async function checkCertificate(
  certificate: Certificate,
  files: TlsFiles,
  { now, publicUrl }: { now: number; publicUrl: string | undefined },
): Promise<CertificateProblem[]> {
  const problems = [
    checkValidity(certificate, files.cert, now),
    checkNames(certificate, files.cert, publicUrl),
    await checkKeyMode(files.key),
  ];
  return problems.filter((one) => one !== null);
}

function checkNames(certificate: Certificate, path: string, publicUrl: string | undefined): CertificateProblem | null {
  if (publicUrl === undefined || !publicUrl.startsWith("https:") || coversHost(certificate, publicUrl)) return null;
  const names = certificate.names.join(", ") || "no host name";
  const message = `The certificate in ${path} covers ${names}, but --public-url is ${publicUrl}.`;
  const remedy = `Have a certificate issued for ${new URL(publicUrl).hostname}, unless a proxy in front has its own.`;
  return problem("warning", path, message, remedy);
}

/** Whether every account of this machine can read the key; null if not, or if the file cannot be examined. */
async function checkKeyMode(path: string): Promise<CertificateProblem | null> {
  const mode = (await stat(path).catch(() => null))?.mode;
  if (mode === undefined || (mode & 0o007) === 0) return null;
  const message = `Every account of this machine can read the key in ${path} (mode ${(mode & 0o777).toString(8)}).`;
  return { ...problem("warning", path, message, `chmod o= ${path}`), fix: () => chmod(path, mode & 0o770) };
}
