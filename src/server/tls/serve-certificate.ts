import type { Config } from "../config.ts";
import type { LogWriter } from "../log-writer.ts";
import { exchangePause } from "../open-port.ts";
import type { TlsFiles } from "../operation-config.ts";
import { type Certificate, readCertificate } from "./certificate.ts";
import { type CertificateKeeper, keepCertificate } from "./keep-certificate.ts";

/** The certificate of a process of the server, from its start to its end. */
export interface ServedCertificate {
  first: Certificate;
  /** Follows the files, and gives `present` what is to be presented from then on. */
  follow(present: (certificate: Certificate) => Promise<void>): void;
  /** Epoch milliseconds at which the present one ends. */
  until(): number;
  stop(): Promise<void>;
}

/**
 * Reads the certificate that a process serves with. SIGHUP looks at once whether there is another.
 * @throws AppError 5102 that names the file at fault.
 */
export async function openCertificate(config: Config, files: TlsFiles, log: LogWriter): Promise<ServedCertificate> {
  const first = await readCertificate(files);
  let keeper: CertificateKeeper | undefined;
  const onHangup = () => void keeper?.look();
  return {
    first,
    follow(present) {
      keeper = keepCertificate(files, first, {
        publicUrl: config.publicUrl,
        now: Date.now,
        pauseMs: exchangePause(config),
        // Workers look for themselves; their parent speaks for all.
        notice: config.isWorker ? () => {} : log.notice,
        present,
      });
      // At a terminal it means that the terminal is gone, and ends the server as it ends everything there.
      if (!process.stdin.isTTY) process.on("SIGHUP", onHangup);
    },
    until: () => (keeper?.current() ?? first).until,
    async stop() {
      process.off("SIGHUP", onHangup);
      await keeper?.stop();
    },
  };
}
