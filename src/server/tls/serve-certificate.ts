import type { Config } from "../config/config.ts";
import type { TlsFiles } from "../config/operation-config.ts";
import type { LogWriter } from "../logging/logger.ts";
import { lingerMs } from "../runtime/port.ts";
import { type Certificate, readCertificate } from "./certificate.ts";
import { type CertificateExchange, exchangeCertificates, type Sockets } from "./exchange-certificate.ts";
import { type CertificateKeeper, keepCertificate } from "./keep-certificate.ts";

/** The certificate of a server, from its start to its end. */
export interface ServedCertificate {
  first: Certificate;
  /** What a worker presents that starts now. */
  forNewcomer(): Certificate;
  /** Follows the files, and has the sockets present what they hold from then on. */
  follow(sockets: Sockets): void;
  /** Epoch milliseconds at which the present one ends. */
  until(): number;
  /** Exchanges nothing any more; what hangs in a file system is not waited for. */
  stop(): void;
}

/**
 * Reads the certificate that a server serves with. SIGHUP looks at once whether there is another.
 * @throws validationFailed that names the file at fault.
 */
export async function openCertificate(config: Config, files: TlsFiles, log: LogWriter): Promise<ServedCertificate> {
  const first = await readCertificate(files);
  let exchange: CertificateExchange | undefined;
  let keeper: CertificateKeeper | undefined;
  const onHangup = () => void keeper?.look();
  return {
    first,
    forNewcomer() {
      exchange?.disturb();
      return exchange?.presented() ?? first;
    },
    follow(sockets) {
      exchange = exchangeCertificates(sockets, first, lingerMs);
      const { publicUrl } = config;
      const { present } = exchange;
      keeper = keepCertificate(files, first, { publicUrl, now: Date.now, notice: log.notice, present });
      // At a terminal it means that the terminal is gone, and ends the server as it ends everything there.
      if (!process.stdin.isTTY) process.on("SIGHUP", onHangup);
    },
    until: () => (keeper?.current() ?? first).until,
    stop() {
      process.off("SIGHUP", onHangup);
      keeper?.stop();
      exchange?.stop();
    },
  };
}
