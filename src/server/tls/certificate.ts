import { createPrivateKey, X509Certificate } from "node:crypto";
import { chmod, readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";
import { createSecureContext } from "node:tls";
import type { TlsFiles } from "../config/server-config.ts";
import { errnoOf, validationFailed } from "../errors.ts";
import { attempt } from "../values/attempt.ts";
import { toTimestamp } from "../values/stamps.ts";
import { formatDuration } from "../values/units.ts";

export type KeyPair = Record<"cert" | "key", string>;

export type Certificate = ReturnType<typeof parseCertificate>;

/** Reads a certificate and its key, and checks that they match. Throws validationFailed, which names the file. */
export async function readCertificate(files: TlsFiles) {
  const [cert, key] = await Promise.all([readPem(files.cert), readPem(files.key)]);
  return parseCertificate({ cert, key }, files);
}

/** Parses a certificate and its key, and checks that they match. Errors name `files`, but the files are not read. */
export function parseCertificate({ cert, key }: KeyPair, files: TlsFiles) {
  const leaf = attempt(() => new X509Certificate(cert));
  if (leaf === undefined) {
    const remedy = "Name the file of the certificate chain, such as fullchain.pem, with --tls-cert.";
    throw validationFailed(`${files.cert} contains no PEM certificate (-----BEGIN CERTIFICATE-----).`, { remedy });
  }
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(key)) {
    const remedy = `Remove the passphrase: openssl pkey -in ${files.key} -out key.pem`;
    throw validationFailed(`The key in ${files.key} has a passphrase, which the server cannot enter. ${remedy}`);
  }
  const privateKey = attempt(() => createPrivateKey(key));
  if (privateKey === undefined) {
    const remedy = "Name the file of the certificate's private key, such as privkey.pem, with --tls-key.";
    throw validationFailed(`${files.key} contains no PEM private key (-----BEGIN PRIVATE KEY-----).`, { remedy });
  }
  if (!leaf.checkPrivateKey(privateKey)) {
    const remedy = "Put the server's own certificate first in the chain.";
    throw validationFailed(`The key in ${files.key} does not match the first certificate in ${files.cert}. ${remedy}`);
  }
  if (!attempt(() => createSecureContext({ cert, key }))) {
    throw validationFailed(`The chain in ${files.cert} cannot be used: one of its certificates is damaged.`);
  }
  const listed = (leaf.subjectAltName ?? "").matchAll(/(?:DNS|IP Address):([^,\s"]+)/g);
  const names = [...listed].map(([, name]) => name as string);
  return { cert, key, leaf, names, from: Date.parse(leaf.validFrom), until: Date.parse(leaf.validTo) };
}

async function readPem(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw validationFailed(`${path} cannot be read (${errnoOf(cause)}).`, { cause });
  }
}

const dayMs = 86_400_000;
/** If the certificate expires within fewer days, a renewal has failed: tools renew a month before expiry. */
export const expiryWarningDays = 14;

/** A problem of a certificate that the server can still use. `subject` is the file with the problem. */
type CertificateProblem = ReturnType<typeof problem> & { fix?(): Promise<void> };

const problem = (severity: "warning" | "error", subject: string, message: string, remedy: string) => {
  return { severity, subject, message, remedy };
};

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
  const when = days === 0 ? "today" : `in ${formatDuration(days * dayMs)}`;
  return problem("error", path, `The certificate in ${path} expires ${when}, ${toTimestamp(until)}.`, remedy);
}

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

function checkNames({ leaf, names }: Certificate, path: string, publicUrl = ""): CertificateProblem | null {
  if (!publicUrl.startsWith("https:")) return null;
  const { hostname } = new URL(publicUrl);
  const address = hostname.replace(/^\[|\]$/g, "");
  if (isIP(address) ? leaf.checkIP(address) : leaf.checkHost(hostname)) return null;
  const covered = names.join(", ") || "no host name";
  const message = `The certificate in ${path} covers ${covered}, but --public-url is ${publicUrl}.`;
  const remedy = `Write a certificate for ${hostname} to this file, or correct --public-url. A proxy in front may have its own.`;
  return problem("warning", path, message, remedy);
}

async function checkKeyMode(path: string): Promise<CertificateProblem | null> {
  const mode = (await stat(path).catch(() => null))?.mode;
  if (mode === undefined || (mode & 0o007) === 0) return null;
  const message = `Every account of this machine can read the key in ${path} (mode ${(mode & 0o777).toString(8)}).`;
  return { ...problem("warning", path, message, `chmod o= ${path}`), fix: () => chmod(path, mode & 0o770) };
}
