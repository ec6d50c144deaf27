import { readFileSync } from "node:fs";
import type { AcmeConfig } from "../../config/acme-config.ts";
import { writeWhole } from "../../config/data-dir.ts";
import type { Database } from "../../db/session.ts";
import type { LogWriter } from "../../logging/logger.ts";
import { mailServerAlert } from "../../modules/mail/server-alert.ts";
import type { Vault } from "../../security/vault.ts";
import { attempt } from "../../values/attempt.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { type Certificate, expiryWarningDays } from "../certificate.ts";
import { AcmeProblem, openAcme } from "./client.ts";
import { describeError, describeFailure } from "./failure.ts";
import { parsePem, readAccount } from "./files.ts";
import { obtainCertificate, type Publish } from "./obtain.ts";
import { openRow, type Result, readRow } from "./row.ts";
import { renewalIdOf } from "./signing-request.ts";

const hourMs = 3_600_000;
/** How often a copy looks for what another one has obtained. */
const pollMs = 60_000;
const minPollMs = 1000;
/** How often the authority is asked when to renew: it may want an early renewal. */
const planMs = 6 * hourMs;
const deadlineMs = 300_000;
/** The first wait after a failure, which doubles with each further one. */
const firstRetryMs = 300_000;
const maxRetryMs = 12 * hourMs;

export interface RenewDeps {
  db: Database;
  vault: Vault;
  dataDir: string;
  now: () => number;
  notice: LogWriter["notice"];
}

/** Obtains and renews the certificate until it is stopped. SIGHUP makes it look at once. */
export function startRenewal(config: AcmeConfig, deps: RenewDeps) {
  const stopping = new AbortController();
  const { signal } = stopping;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let working = Promise.resolve();

  function look(isForced: boolean): void {
    working = working.then(async () => {
      clearTimeout(timer);
      if (signal.aborted) return;
      const nextAt = await lookOnce(config, { ...deps, signal }, isForced).catch(() => {
        deps.notice("warn", "the certificate could not be checked; the server tries again in a minute");
        return Number.POSITIVE_INFINITY;
      });
      timer = setTimeout(() => look(false), Math.max(minPollMs, Math.min(nextAt - deps.now(), pollMs)));
    });
  }

  const onHangup = () => look(true);
  process.on("SIGHUP", onHangup);
  look(false);
  return {
    async stop() {
      process.off("SIGHUP", onHangup);
      stopping.abort();
      await working;
      clearTimeout(timer);
    },
  };
}

type LookDeps = RenewDeps & { signal: AbortSignal };

/** Writes what another copy obtained to the file, and renews if it is time. Returns when to look again. */
async function lookOnce(config: AcmeConfig, deps: LookDeps, isForced: boolean): Promise<number> {
  const { db, vault, dataDir, now, signal } = deps;
  const row = await openRow(db, config, now);
  const { sealed = null, nextAt = "", failures = 0 } = (await readRow(db, config)) ?? {};
  const pem = sealed === null ? null : vault.open("certificate", row.id, sealed);
  const present = pem === null ? undefined : parsePem(pem, config);
  if (pem !== null && attempt(() => readFileSync(config.file, "utf8")) !== pem) writeWhole(dataDir, config.file, pem);
  // After `db rekey`, the certificate cannot be read.
  const isLost = sealed !== null && pem === null && failures === 0;
  if (Date.parse(nextAt) > now() && !isForced && !isLost) return Date.parse(nextAt);
  if (!(await row.claim(nextAt))) return now() + pollMs;
  const result = await replaceIfDue(config, present, { ...deps, failures, publish: row.publish }).catch((error) =>
    signal.aborted ? { nextAt: now(), failures } : reportError(error, config, { ...deps, failures, present }),
  );
  const obtained = "pem" in result ? result.pem : undefined;
  await row.save({ ...result, sealed: obtained && vault.seal("certificate", row.id, obtained) });
  if (obtained !== undefined) writeWhole(dataDir, config.file, obtained);
  return result.nextAt;
}

/**
 * Obtains a certificate if there is none or the present one is to be renewed. Returns its PEM, and when to look again.
 * @throws AcmeProblem if the authority refuses; errors of `fetch`; validationFailed if what it sends cannot be served.
 */
async function replaceIfDue(
  config: AcmeConfig,
  present: Certificate | undefined,
  { dataDir, now, failures, signal, publish }: LookDeps & { failures: number; publish: Publish },
): Promise<{ pem?: string; nextAt: number }> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
  const client = await openAcme(config.directory, readAccount(config, dataDir), limit);
  const { renewalInfo } = client.directory;
  const replaces = renewalInfo && present && renewalIdOf(present.leaf);
  if (present) {
    const window = replaces && (await client.readWindow(`${renewalInfo}/${replaces}`));
    const at = renewalTime(present, window || undefined);
    if (at > now()) return { nextAt: Math.min(at, now() + planMs) };
  }
  // An authority refuses to replace a certificate twice, for example after a crash.
  const pem = await obtainCertificate(client, config, { replaces: failures === 0 ? replaces : undefined, publish });
  return { pem, nextAt: Math.min(renewalTime(parsePem(pem, config)), now() + planMs) };
}

/** Returns when to renew: in the window that the authority suggests (RFC 9773), else at two thirds of the lifetime. */
export function renewalTime({ from, until, leaf }: Certificate, suggested?: { start: number; end: number }): number {
  const lifetime = until - from;
  const { start, end } = suggested ?? { start: from + lifetime * 0.63, end: from + lifetime * 0.67 };
  // Each certificate keeps its place in the window, which differs from that of others.
  return start + (end - start) * (Number.parseInt(leaf.fingerprint256.slice(0, 2), 16) / 256);
}

/** Logs a failure, and mails it once for each certificate that is about to expire. Returns when to try again. */
async function reportError(
  error: unknown,
  { names }: AcmeConfig,
  deps: RenewDeps & { failures: number; present: Certificate | undefined },
): Promise<Result> {
  const { failures, now, notice, present } = deps;
  const waitMs = Math.min(firstRetryMs * 2 ** failures, maxRetryMs);
  const nextAt = now() + Math.max(waitMs, error instanceof AcmeProblem ? error.retryAfterMs : 0);
  const failure = describeError(error, names);
  const { message, remedy } = describeFailure(failure, nextAt);
  notice("error", `${message} ${remedy}`);
  if (present && present.until - now() < expiryWarningDays * 24 * hourMs) {
    const soon = `The certificate for ${names.join(", ")} expires on ${toTimestamp(present.until)}.`;
    const alert = { cause: `certificate:${present.leaf.fingerprint256}`, message: `${soon} ${message}`, remedy };
    await mailServerAlert(deps, alert).catch(() =>
      notice("warn", "the mail about the certificate could not be queued"),
    );
  }
  return { nextAt, failures: failures + 1, failure };
}
