import { stat } from "node:fs/promises";
import type { TlsFiles } from "../config/operation-config.ts";
import { AppError, validationFailed } from "../errors.ts";
import { describeFault } from "../logging/request-log.ts";
import { toTimestamp } from "../values/timestamp.ts";
import { type Certificate, readCertificate } from "./certificate.ts";
import { judgeCertificate, judgeTime } from "./judge-certificate.ts";

const lookMs = 2000;
const dayMs = 86_400_000;

/** The certificate of a running server, which follows its files. */
export interface CertificateKeeper {
  /** What is presented now. */
  current(): Certificate;
  /** Looks at once whether the files have changed, and settles when what came of it is done. */
  look(): Promise<void>;
  /** Presents nothing any more. */
  stop(): void;
}

interface KeeperDeps {
  publicUrl: string | undefined;
  now: () => number;
  notice: (level: "info" | "warn", message: string) => void;
  /** Puts a certificate to use; throws when it cannot be used. */
  present: (certificate: Certificate) => Promise<void>;
}

/**
 * Says what is presented, then looks every other second whether the files hold another pair. One that is half-written or
 * does not belong together changes nothing; it is told, and tried again for as long as it stands there.
 */
export function keepCertificate(files: TlsFiles, first: Certificate, deps: KeeperDeps): CertificateKeeper {
  const { publicUrl, now, notice, present } = deps;
  let current = first;
  // Unknown, so that what was written between the reading and here is found at the first look.
  let known = "";
  let told = "";
  let warnedAt = now();
  let isStopped = false;
  let looking = Promise.resolve();

  async function describe(): Promise<void> {
    const names = current.names.join(", ") || "no name";
    notice("info", `certificate for ${names} until ${toTimestamp(current.until)}`);
    for (const { message, remedy } of await judgeCertificate(current, files, { now: now(), publicUrl })) {
      notice("warn", `${message} ${remedy}`);
    }
    warnedAt = now();
  }

  async function takeNext(): Promise<void> {
    // Told before reading: what is written meanwhile differs from it at the next look.
    const seen = await identify(files);
    if (seen === known) return;
    try {
      const next = await readCertificate(files);
      const isNew = next.cert !== current.cert || next.key !== current.key;
      if (isNew && next.until <= now() && current.until > now()) {
        throw validationFailed(`The certificate in ${files.cert} has ended on ${toTimestamp(next.until)}.`);
      }
      if (isStopped) return;
      if (isNew) await present(next);
      known = seen;
      told = "";
      if (!isNew) return;
      current = next;
      await describe();
    } catch (error) {
      const message = error instanceof AppError ? error.message : describeFault(error);
      if (message !== told) notice("warn", `${message} The certificate before it stays; this one is tried again.`);
      told = message;
    }
  }

  async function remindDaily(): Promise<void> {
    if (now() - warnedAt < dayMs) return;
    warnedAt = now();
    const fault = judgeTime(current, files.cert, now());
    if (fault) notice("warn", `${fault.message} ${fault.remedy}`);
  }

  /** One look after the other; whoever asks during one gets another, which sees what was written meanwhile. */
  function look(): Promise<void> {
    looking = looking.then(async () => {
      if (isStopped) return;
      await takeNext();
      await remindDaily();
    });
    return looking;
  }

  void describe();
  const timer = setInterval(() => void look(), lookMs);
  return {
    current: () => current,
    look,
    stop() {
      isStopped = true;
      clearInterval(timer);
    },
  };
}

/**
 * What tells one state of the files from another. Links are followed: programs that renew certificates exchange a link, or
 * the folder that it leads through.
 */
async function identify({ cert, key }: TlsFiles): Promise<string> {
  const both = await Promise.all([cert, key].map((path) => stat(path).catch(() => null)));
  return both.map((file) => file && [file.dev, file.ino, file.size, file.mtimeMs, file.ctimeMs].join(":")).join("|");
}
