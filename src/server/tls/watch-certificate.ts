import { runEvery } from "../concurrency/run-every.ts";
import type { AcmeConfig } from "../config/acme-config.ts";
import type { TlsFiles } from "../config/server-config.ts";
import { AppError } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";
import { describeFault } from "../logging/request-log.ts";
import { toTimestamp } from "../values/stamps.ts";
import { placeCertificate } from "./acme/signing-request.ts";
import { type Certificate, checkCertificate, checkValidity, readCertificate } from "./certificate.ts";

const pollMs = 2000;
const dayMs = 86_400_000;

export type CertificateWatcher = Awaited<ReturnType<typeof watchCertificate>>;

interface WatchOptions {
  acme?: AcmeConfig | undefined;
  publicUrl: string | undefined;
  now: () => number;
  notice: LogWriter["notice"];
}

/**
 * Reads a certificate and its key, and returns functions that watch the files. If a changed pair is incomplete or does
 * not match, this is logged once, and the previous pair stays in use.
 * @throws validationFailed, which names the file with the problem.
 */
export async function watchCertificate(files: TlsFiles, options: WatchOptions) {
  const { acme, now, notice } = options;
  if (acme) placeCertificate(acme);
  let current = await readCertificate(files);
  let lastFailure = "";
  let warnedAt = now();
  let polling: ReturnType<typeof runEvery> | undefined;

  function warnOnceADay(): void {
    if (now() - warnedAt < dayMs) return;
    warnedAt = now();
    const problem = checkValidity(current, files.cert, now());
    if (problem) notice("warn", `${problem.message} ${problem.remedy}`);
  }

  /** Reads the files. If they have changed, calls `use`, which switches to the new certificate and may throw. */
  async function poll(use: (certificate: Certificate) => void): Promise<void> {
    try {
      const next = await readCertificate(files);
      if (next.cert !== current.cert || next.key !== current.key) {
        use(next);
        current = next;
        warnedAt = now();
        await logCertificate(next, files, options);
      }
      lastFailure = "";
    } catch (error) {
      const message = error instanceof AppError ? error.message : describeFault(error);
      if (message !== lastFailure) notice("warn", `${message} The previous certificate stays in use.`);
      lastFailure = message;
    }
    if (!acme) warnOnceADay();
  }

  return {
    current: () => current,
    poll,
    /** Logs the certificate, then watches the files. */
    start(use: (certificate: Certificate) => void) {
      void logCertificate(current, files, options);
      polling = runEvery(pollMs, () => poll(use));
    },
    stop: () => void polling?.stop(),
  };
}

async function logCertificate(certificate: Certificate, files: TlsFiles, options: WatchOptions) {
  const { acme, publicUrl, now, notice } = options;
  const names = certificate.names.join(", ") || "no host name";
  notice("info", `certificate for ${names}, valid until ${toTimestamp(certificate.until)}`);
  // With --acme, the renewal logs its own problems.
  if (acme) return;
  for (const { message, remedy } of await checkCertificate(certificate, files, { now: now(), publicUrl })) {
    notice("warn", `${message} ${remedy}`);
  }
}
