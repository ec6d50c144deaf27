import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { runEvery } from "../../concurrency/run-every.ts";
import type { AcmeConfig } from "../../config/acme-config.ts";
import { writeWhole } from "../../config/data-dir.ts";
import type { SystemCtx } from "../../context.ts";
import type { Database } from "../../db/session.ts";
import type { LogWriter } from "../../logging/logger.ts";
import { attempt } from "../../values/attempt.ts";
import { type Certificate, parseCertificate } from "../certificate.ts";
import { AcmeProblem, openAcme } from "./client.ts";
import { describeError } from "./failure.ts";
import { obtainCertificate } from "./obtain.ts";
import { openRow, type Result } from "./row.ts";
import { renewalIdOf } from "./signing-request.ts";

const hourMs = 3_600_000;
/** How often a server checks whether to renew, and whether another server has renewed. */
const pollMs = 5000;
/** How often the authority is asked when to renew: it may want an early renewal. */
const planMs = 6 * hourMs;
const deadlineMs = 300_000;
/** How long a server may take to renew before another one tries. */
const leaseMs = 2 * deadlineMs;
/** The first wait after a failure, which doubles with each further one. */
const firstRetryMs = 300_000;
const maxRetryMs = 12 * hourMs;

export interface RenewDeps extends Pick<SystemCtx, "vault" | "now"> {
  db: Database;
  notice: LogWriter["notice"];
}

/** Obtains and renews the certificate until it is stopped. If `isForced`, it does not wait for the next time first. */
export function startRenewal(config: AcmeConfig, deps: RenewDeps, isForced: boolean) {
  const stopping = new AbortController();
  const look = () => {
    const options = { ...deps, signal: stopping.signal, isForced };
    isForced = false;
    return renewIfDue(config, options);
  };
  const looking = runEvery(pollMs, look, () =>
    deps.notice("warn", "the certificate could not be checked; the server tries again"),
  );
  return {
    stop() {
      stopping.abort();
      return looking.stop();
    },
  };
}

type LookDeps = RenewDeps & { signal: AbortSignal; isForced: boolean };

/** Writes the certificate that this or another server has obtained to the file, and renews it if it is time. */
async function renewIfDue(config: AcmeConfig, deps: LookDeps): Promise<void> {
  const { db, vault, now, signal, isForced } = deps;
  const row = openRow(db, config);
  const { sealed = null, nextAt = "", failures = 0 } = (await row.read()) ?? {};
  const pem = sealed === null ? null : vault.open("certificate", row.id, sealed);
  if (pem !== null && attempt(() => readFileSync(config.file, "utf8")) !== pem) {
    writeWhole(config.dataDir, config.file, pem);
  }
  // After `db rekey`, the stored certificate cannot be decrypted, so a new one is obtained at once.
  const isLost = sealed !== null && pem === null && failures === 0;
  if (Date.parse(nextAt) > now() && !isForced && !isLost) return;
  if (!(await row.claim(nextAt, now() + leaseMs))) return;
  const present = pem === null ? undefined : parsePem(pem, config);
  const result = await replaceCertificate(config, present, { ...deps, row, failures }).catch((error) =>
    signal.aborted ? { nextAt: now(), failures } : reportError(error, config, { ...deps, failures }),
  );
  await row.save(result);
}

/**
 * Obtains a certificate if there is none or the authority wants the present one to be replaced.
 * @throws AcmeProblem if the authority refuses; errors of `fetch`; validationFailed if what it sends cannot be served.
 */
async function replaceCertificate(
  config: AcmeConfig,
  present: Certificate | undefined,
  { vault, now, signal, row, failures }: LookDeps & { row: ReturnType<typeof openRow>; failures: number },
): Promise<Result> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
  const client = await openAcme(config.directory, readAccount(config), limit);
  const { renewalInfo } = client.directory;
  const replaces = renewalInfo && present && renewalIdOf(present.leaf);
  if (present) {
    const window = replaces && (await client.readWindow(`${renewalInfo}/${replaces}`));
    const at = renewalTime(present, window || undefined);
    if (at > now()) return { nextAt: Math.min(at, now() + planMs) };
  }
  // After a failure, no certificate is named: the attempt may have replaced it, and a second time is refused.
  const pem = await obtainCertificate(client, config, failures === 0 ? replaces : undefined, row.publish);
  const nextAt = Math.min(renewalTime(parsePem(pem, config)), now() + planMs);
  return { nextAt, sealed: vault.seal("certificate", row.id, pem) };
}

/** Reads the key of the account at the authority, which is created if it is missing. */
function readAccount({ accountFile, dataDir }: AcmeConfig): KeyObject {
  if (!existsSync(accountFile)) {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    writeWhole(dataDir, accountFile, privateKey.export({ type: "pkcs8", format: "pem" }), true);
  }
  return createPrivateKey(readFileSync(accountFile));
}

const parsePem = (pem: string, { file }: AcmeConfig) =>
  parseCertificate({ cert: pem, key: pem }, { cert: file, key: file });

/** Returns when to renew: in the window that the authority suggests (RFC 9773), else at two thirds of the lifetime. */
export function renewalTime({ from, until, leaf }: Certificate, suggested?: { start: number; end: number }): number {
  const lifetime = until - from;
  const { start, end } = suggested ?? { start: from + lifetime * 0.63, end: from + lifetime * 0.67 };
  // The place in the window depends on the certificate, so that not all servers renew at the same time.
  return start + (end - start) * (Number.parseInt(leaf.fingerprint256.slice(0, 2), 16) / 256);
}

/** Logs a failure. The result says when to try again. */
function reportError(
  error: unknown,
  config: AcmeConfig,
  { failures, now, notice }: RenewDeps & { failures: number },
): Result {
  const waitMs = Math.min(firstRetryMs * 2 ** failures, maxRetryMs);
  const nextAt = now() + Math.max(waitMs, error instanceof AcmeProblem ? error.retryAfterMs : 0);
  const failure = describeError(error, config, nextAt);
  notice("error", `${failure.message} ${failure.remedy}`);
  return { nextAt, failures: failures + 1, failure: JSON.stringify(failure) };
}
