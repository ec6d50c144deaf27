import { chmod, stat } from "node:fs/promises";
import type { TlsFiles } from "../config/operation-config.ts";
import { toTimestamp } from "../values/timestamp.ts";
import { type Certificate, coversHost } from "./certificate.ts";

const dayMs = 86_400_000;
/** Programs that renew certificates do so a month before the end; by now it should have happened. */
export const shortDays = 14;

/** Something about a certificate that is served all the same. */
export interface CertificateFault {
  severity: "warning" | "error";
  /** The file that it is about. */
  path: string;
  message: string;
  remedy: string;
  mend?(): Promise<void>;
}

/** What is wrong with the time of a certificate; null when it has begun and is far from its end. */
export function judgeTime({ from, until }: Certificate, path: string, now: number): CertificateFault | null {
  const remedy = `Renew it and write it to ${path}; the server takes it by itself.`;
  if (until <= now) {
    const message = `The certificate in ${path} has ended on ${toTimestamp(until)}: browsers and apps refuse it.`;
    return { severity: "error", path, message, remedy };
  }
  if (from > now) {
    const message = `The certificate in ${path} begins on ${toTimestamp(from)}: browsers and apps refuse it until then.`;
    return {
      severity: "error",
      path,
      message,
      remedy: "Check the clock of this machine, else have another one issued.",
    };
  }
  const days = Math.floor((until - now) / dayMs);
  if (days >= shortDays) return null;
  const left = days === 0 ? "today" : days === 1 ? "in one day" : `in ${days} days`;
  return {
    severity: "warning",
    path,
    message: `The certificate in ${path} ends ${left}, ${toTimestamp(until)}.`,
    remedy,
  };
}

/** What is wrong with the names of a certificate, where an address is known under which it is asked for. */
export function judgeNames(
  certificate: Certificate,
  path: string,
  publicUrl: string | undefined,
): CertificateFault | null {
  if (publicUrl === undefined || !publicUrl.startsWith("https:") || coversHost(certificate, publicUrl)) return null;
  const { hostname } = new URL(publicUrl);
  const names = certificate.names.join(", ") || "no name at all";
  return {
    severity: "warning",
    path,
    message: `The certificate in ${path} is for ${names}, and --public-url is ${publicUrl}.`,
    remedy: `Have one issued that names ${hostname}, unless a proxy with a certificate of its own stands in front.`,
  };
}

/** Whether anyone of this machine can read the key; null when not, or when it cannot be told. */
export async function judgeKeyMode(path: string): Promise<CertificateFault | null> {
  const mode = (await stat(path).catch(() => null))?.mode;
  if (mode === undefined || (mode & 0o007) === 0) return null;
  return {
    severity: "warning",
    path,
    message: `The key in ${path} is open to every account of this machine (mode ${(mode & 0o777).toString(8)}).`,
    remedy: `chmod o= ${path}`,
    mend: () => chmod(path, mode & 0o770),
  };
}

/** All of it. */
export async function judgeCertificate(
  certificate: Certificate,
  files: TlsFiles,
  { now, publicUrl }: { now: number; publicUrl: string | undefined },
): Promise<CertificateFault[]> {
  const faults = [
    judgeTime(certificate, files.cert, now),
    judgeNames(certificate, files.cert, publicUrl),
    await judgeKeyMode(files.key),
  ];
  return faults.filter((fault) => fault !== null);
}
