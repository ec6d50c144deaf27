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
import { openAcme } from "./client.ts";
import { describeError } from "./failure.ts";
import { obtainCertificate } from "./obtain.ts";
import { openRow, type Result } from "./row.ts";

const hourMs = 3_600_000;
/** How often a server checks whether to renew, and whether another server has renewed. */
const pollMs = 5000;
/** How often the server asks the authority when to renew. An authority may ask for an early renewal. */
const planMs = 6 * hourMs;
const deadlineMs = 300_000;
/** How long a server may take to renew before another server tries. */
const leaseMs = 2 * deadlineMs;
/** How long to wait after the first failure. Each further failure doubles the time. */
const firstRetryMs = 300_000;
const maxRetryMs = 12 * hourMs;

export interface RenewDeps extends Pick<SystemCtx, "vault" | "now"> {
  db: Database;
  notice: LogWriter["notice"];
}

/**
 * Starts to obtain and renew the certificate. The first check is immediate if `isForced`, or if the email has changed
 * since the last failure. (If the names or the authority change, the certificate has a new row.)
 */
export async function startRenewal(config: AcmeConfig, deps: RenewDeps, isForced: boolean) {
  const stopping = new AbortController();
  const row = openRow(deps.db, config);
  const { failure, nextAt = "" } = (await row.read()) ?? {};
  const last = failure ? JSON.parse(failure) : null;
  if (isForced || (last && last.email !== config.email)) await row.hasten();
  else if (last && Date.parse(nextAt) > deps.now()) deps.notice("warn", `${last.message} ${last.remedy}`);
  const renew = () => renewIfDue(config, { ...deps, row, signal: stopping.signal });
  const renewing = runEvery(pollMs, renew, () =>
    deps.notice("warn", "the certificate could not be checked; the server tries again"),
  );
  void renewing.run();
  return {
    stop() {
      stopping.abort();
      return renewing.stop();
    },
  };
}

type CheckDeps = RenewDeps & { row: ReturnType<typeof openRow>; signal: AbortSignal };

/** Writes the newest certificate, which another server may have obtained, to the file. Renews it if this is due. */
async function renewIfDue(config: AcmeConfig, deps: CheckDeps): Promise<void> {
  const { row, vault, now, signal } = deps;
  const { sealed = null, nextAt = "", failures = 0, failure } = (await row.read()) ?? {};
  const pem = sealed === null ? null : vault.open("certificate", row.id, sealed);
  if (pem !== null && attempt(() => readFileSync(config.file, "utf8")) !== pem) {
    writeWhole(config.dataDir, config.file, pem);
  }
  if (Date.parse(nextAt) > now()) return;
  if (!(await row.claim(nextAt, now() + leaseMs))) return;
  // After `db rekey`, the stored certificate cannot be decrypted, so another one is obtained.
  const present = pem === null ? undefined : parsePem(pem, config);
  const result = await replaceCertificate(config, present, deps).catch((error) =>
    signal.aborted ? { nextAt: now(), failures, failure } : reportError(error, config, { ...deps, failures }),
  );
  await row.save(result);
}

/**
 * Obtains a certificate if there is none, or if the present one must be renewed.
 * @throws AcmeProblem if the authority refuses; errors of `fetch`; validationFailed if the new certificate is unusable.
 */
async function replaceCertificate(config: AcmeConfig, present: Certificate | undefined, deps: CheckDeps) {
  const { vault, now, signal, row } = deps;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
  const client = await openAcme(config.directory, readAccount(config), limit);
  if (present) {
    const at = renewalTime(present, await client.readWindow(present.leaf));
    if (at > now()) return { nextAt: Math.min(at, now() + planMs) };
  }
  const pem = await obtainCertificate(client, config, row.publish);
  const nextAt = Math.min(renewalTime(parsePem(pem, config)), now() + planMs);
  return { nextAt, sealed: vault.seal("certificate", row.id, pem) };
}

/** Reads the key of the account at the authority. Creates the key if it is missing. */
function readAccount({ accountFile, dataDir }: AcmeConfig): KeyObject {
  if (!existsSync(accountFile)) {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    writeWhole(dataDir, accountFile, privateKey.export({ type: "pkcs8", format: "pem" }), true);
  }
  return createPrivateKey(readFileSync(accountFile));
}

const parsePem = (pem: string, { file }: AcmeConfig) =>
  parseCertificate({ cert: pem, key: pem }, { cert: file, key: file });

/** Returns when to renew: in the time that the authority suggests (RFC 9773), or at two thirds of the lifetime. */
export function renewalTime({ from, until, leaf }: Certificate, suggested?: { start: number; end: number }): number {
  const lifetime = until - from;
  const { start, end } = suggested ?? { start: from + lifetime * 0.63, end: from + lifetime * 0.67 };
  // The time depends on the certificate, so that not all servers renew at once.
  return start + (end - start) * (Number.parseInt(leaf.fingerprint256.slice(0, 2), 16) / 256);
}

/** Logs a failure, and returns when to try again. */
function reportError(error: unknown, config: AcmeConfig, deps: RenewDeps & { failures: number }): Result {
  const { failures, now, notice } = deps;
  const nextAt = now() + Math.min(firstRetryMs * 2 ** failures, maxRetryMs);
  const failure = describeError(error, config, nextAt);
  notice("error", `${failure.message} ${failure.remedy}`);
  return { nextAt, failures: failures + 1, failure: JSON.stringify({ ...failure, email: config.email }) };
}
