import { statSync } from "node:fs";
import { envFilePath } from "../../config/env-file.ts";
import { findUnknownSettings } from "../../config/unknown-settings.ts";
import { locateFailure } from "../../db/failure.ts";
import { isServerRunning } from "../../db/local/server-lock.ts";
import { AppError, unavailable } from "../../errors.ts";
import { readServerStatus } from "../../monitoring/control-socket.ts";
import type { ServerStatus } from "../../monitoring/server-status.ts";
import { readCertificate } from "../../tls/certificate.ts";
import { checkCertificate } from "../../tls/check-certificate.ts";
import { type EnvironmentCheck, type Finding, finding } from "../finding.ts";

const retryMs = 500;

export const server = {
  id: "server",
  about:
    "A server runs on the data directory, all of its workers run, answer and are ready, it is of the same version as this program and has its present settings.",
  async run({ config, timeoutMs, version: own, command }) {
    const { dataDir, databaseUrl } = config;
    // The servers of a libSQL database may run on other machines.
    if (databaseUrl !== undefined) return [];
    if (!(await isServerRunning(dataDir))) {
      return [finding("note", dataDir, `No server runs on ${dataDir}.`, command("serve"))];
    }
    const status: Status | null = await readServerStatus(dataDir, AbortSignal.timeout(timeoutMs));
    if (status === null) {
      const message = `A server runs on ${dataDir} but does not answer on its control socket. It is starting, it hangs, or it belongs to another account.`;
      return [finding("warning", dataDir, message, "Check its log. If it hangs, restart it.")];
    }
    const { version, pid } = status;
    const message = `The server (process ${pid}) is version ${version}, and this program is version ${own}.`;
    const remedy = "Restart the server to run the installed version.";
    const old = version === own ? [] : [finding("warning", dataDir, message, remedy)];
    const settingsFile = envFilePath(dataDir);
    const changedAt = statSync(settingsFile, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const isUnread = status.started_at !== undefined && changedAt > Date.parse(status.started_at);
    const changed = `${settingsFile} was changed after the server started.`;
    const reload = "Restart the server, which reads it only when it starts.";
    const unread = isUnread ? [finding("warning", settingsFile, changed, reload)] : [];
    const unready = new Set((status.processes ?? []).flatMap(({ unready }) => unready ?? []));
    const faults = [...unready].map((reason) => {
      const fault = locateFailure(unavailable(reason, { isInternal: true }), config, command) as AppError;
      return finding("error", dataDir, `The server is not ready: ${reason}`, fault.remedy ?? null);
    });
    const wait = `The clock of the server (process ${pid}) jumped. Nothing expires and no old rows are deleted until it has been steady for ten minutes.`;
    const paused = status.expiry_paused ? [finding("warning", "clock", wait, "timedatectl set-ntp true")] : [];
    return [...(await findFailingWorkers(dataDir, timeoutMs, status)), ...faults, ...paused, ...old, ...unread];
  },
} satisfies EnvironmentCheck;

/** The part of a `ServerStatus` that all versions have. */
type Status = Pick<ServerStatus, "version" | "pid" | "workers"> & Partial<ServerStatus>;

/** Workers that do not run or answer at two checks in a row; one that is only busy or starting answers the second. */
async function findFailingWorkers(dataDir: string, timeoutMs: number, first: Status): Promise<Finding[]> {
  const silent = (first.processes ?? []).filter(({ answers }) => !answers);
  if (silent.length === 0) return [];
  await Bun.sleep(retryMs);
  const second = (await readServerStatus(dataDir, AbortSignal.timeout(timeoutMs)))?.processes ?? [];
  const failing = silent.filter(({ name, pid }) =>
    second.some((one) => one.name === name && one.pid === pid && !one.answers),
  );
  const hanging = failing.filter(({ pid }) => pid !== null);
  const down = failing.length - hanging.length;
  const { workers, pid: server } = first;
  const message = `${workers - down} of ${workers} workers of the server (process ${server}) run. The server keeps trying to start the others.`;
  const remedy = "Read its log: it says why they end and what to do.";
  return [
    ...(down === 0 ? [] : [finding("error", "workers", message, remedy)]),
    ...hanging.map(({ name, pid }) => {
      const message = `Worker ${name} of the server (process ${pid}) hangs, and its requests get no answer. The server replaces it after ten seconds.`;
      return finding("error", `worker ${name}`, message, `kill -KILL ${pid}`);
    }),
  ];
}

export const tls = {
  id: "tls",
  about:
    "The certificate of the server matches its key and its name, is valid for long enough, and its key is private.",
  async run({ config: { tls: files, publicUrl }, now }) {
    if (files === undefined) return [];
    try {
      return await checkCertificate(await readCertificate(files), files, { now: now(), publicUrl });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const remedy = `Write the certificate chain to ${files.cert} and its key to ${files.key}. A running server reloads them.`;
      return [finding("error", files.cert, error.message, remedy)];
    }
  },
} satisfies EnvironmentCheck;

export const settings = {
  id: "settings",
  about: "Every BODEGA_ variable of the environment and of bodega.env is a setting.",
  async run({ config: { dataDir }, env }) {
    const found = findUnknownSettings(env, dataDir);
    return found.map(({ subject, message }) => finding("warning", subject, message, "Correct or remove it."));
  },
} satisfies EnvironmentCheck;
