import { runEvery } from "../concurrency/run-every.ts";
import type { TlsFiles } from "../config/server-config.ts";
import { AppError, validationFailed } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";
import { describeFault } from "../logging/request-log.ts";
import { toTimestamp } from "../values/stamps.ts";
import { type Certificate, checkCertificate, checkValidity, readCertificate } from "./certificate.ts";

const pollMs = 2000;
const dayMs = 86_400_000;

export type CertificateWatcher = Awaited<ReturnType<typeof watchCertificate>>;

interface WatchOptions {
  publicUrl: string | undefined;
  now: () => number;
  notice: LogWriter["notice"];
}

/**
 * Watches the files. A later pair that is incomplete or does not match is logged once, and the previous one stays in
 * use.
 * @throws validationFailed, which names the file that causes it.
 */
export async function watchCertificate(files: TlsFiles, options: WatchOptions) {
  const { now, notice } = options;
  let current = await readCertificate(files);
  let lastFailure = "";
  let warnedAt = now();
  let polling: ReturnType<typeof runEvery> | undefined;

  /** Reads the files. `use` switches to another certificate and may throw; it is not called while the server stops. */
  async function poll(use: (certificate: Certificate) => Promise<void>, isStopping = () => false): Promise<void> {
    const before = current;
    try {
      const next = await readCertificate(files);
      if (isStopping()) return;
      if (next.cert !== before.cert || next.key !== before.key) await replace(next, use);
      lastFailure = "";
    } catch (error) {
      current = before;
      const message = error instanceof AppError ? error.message : describeFault(error);
      if (message !== lastFailure) notice("warn", `${message} The previous certificate stays in use.`);
      lastFailure = message;
    }
    if (now() - warnedAt >= dayMs) warn();
  }

  function warn(): void {
    warnedAt = now();
    const problem = checkValidity(current, files.cert, now());
    if (problem) notice("warn", `${problem.message} ${problem.remedy}`);
  }

  async function replace(next: Certificate, use: (certificate: Certificate) => Promise<void>): Promise<void> {
    if (next.until <= now() && current.until > now()) {
      throw validationFailed(`The certificate in ${files.cert} expired on ${toTimestamp(next.until)}.`);
    }
    // The new pair is stored first, so that a worker that starts meanwhile gets it.
    current = next;
    await use(next);
    warnedAt = now();
    await logCertificate(next, files, options);
  }

  return {
    current: () => current,
    poll,
    /** Logs the certificate, then watches the files. */
    start(use: (certificate: Certificate) => Promise<void>) {
      void logCertificate(current, files, options);
      polling = runEvery(
        pollMs,
        (isStopping) => poll(use, isStopping),
        () => {},
      );
    },
    stop: () => void polling?.stop(),
  };
}

async function logCertificate(certificate: Certificate, files: TlsFiles, { publicUrl, now, notice }: WatchOptions) {
  const names = certificate.names.join(", ") || "no host name";
  notice("info", `certificate for ${names}, valid until ${toTimestamp(certificate.until)}`);
  for (const { message, remedy } of await checkCertificate(certificate, files, { now: now(), publicUrl })) {
    notice("warn", `${message} ${remedy}`);
  }
}
