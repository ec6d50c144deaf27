import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { requestIdOf } from "../api/headers.ts";
import type { Config } from "../config/config.ts";
import { standbyFile, writeWhole } from "../config/data-dir.ts";
import { acquireServerLock, isServerRunning } from "../db/local/file-lock.ts";
import { unavailable, wrongState } from "../errors.ts";
import { baseHeaders, errorResponse, successResponse } from "../http/envelope.ts";
import { reply } from "../http/route.ts";
import { createLogWriter } from "../logging/logger.ts";
import { readStandbyState, Standby } from "../replication/standby.ts";
import { refuseShop } from "../replication/take-over.ts";
import { openReplica } from "../replication/target.ts";
import { watchCertificate } from "../tls/watch-certificate.ts";
import { openPort, reservePort } from "./port.ts";
import type { ServerProcess } from "./serve.ts";
import { lastLinesMs, nextStopSignal } from "./shutdown.ts";

const stopCheckMs = 200;
const stopMs = 30_000;

/** Returns the file that `standby promote` creates to stop the standby of a directory. */
const stopFile = (dataDir: string) => join(dataDir, "standby.stop");

/**
 * Runs a standby, which answers health checks on the port that it will use as a server. Returns the exit code.
 * @throws wrongState if the directory has the database of a server, or a copy of another replica; unavailable if the
 * directory or the port is in use.
 */
export async function runStandby(config: Config, from: string, self: Omit<ServerProcess, "prepare">): Promise<number> {
  const { dataDir } = config;
  const place = openReplica(from, config);
  const log = createLogWriter(config.log, self.writeLog, config.logLevel);
  const stop = new AbortController();
  void nextStopSignal(false).then(() => stop.abort());
  refuseShop(dataDir);
  const known = readStandbyState(dataDir);
  if (known !== undefined && known.place !== place.address) {
    throw wrongState(`${dataDir} has a copy of ${known.place}. Choose another --data-dir, or remove all of it.`);
  }
  const lock = await acquireServerLock(dataDir);
  if (lock === null)
    throw unavailable(`Another standby or server uses ${dataDir}. Stop that one, or choose another directory.`);
  rmSync(stopFile(dataDir), { force: true });
  const checkingStop = setInterval(() => existsSync(stopFile(dataDir)) && stop.abort(), stopCheckMs);
  try {
    const standby = new Standby(place, { config, notice: log.notice, signal: stop.signal });
    const options = { ...config, now: Date.now, notice: log.notice };
    const certificate = config.tls ? (await watchCertificate(config.tls, options)).current() : null;
    const port = openPort({ ...config, port: await reservePort(config) }, certificate);
    port.answer((request) => answer(request, standby));
    const running = standby.run(port.url);
    await self.print(`Bodega ${self.version} follows ${place.address}; its health check listens on ${port.url}\n`);
    await self.onReady?.(port.url);
    await running;
    await port.stop(0);
    return 0;
  } finally {
    clearInterval(checkingStop);
    rmSync(stopFile(dataDir), { force: true });
    lock.close();
    await Promise.race([log.flush(), Bun.sleep(lastLinesMs)]);
  }
}

export async function stopStandby(dataDir: string): Promise<void> {
  const deadline = performance.now() + stopMs;
  while (existsSync(standbyFile(dataDir)) && (await isServerRunning(dataDir))) {
    if (performance.now() > deadline) throw unavailable(`The standby on ${dataDir} does not stop. Stop its process.`);
    if (!existsSync(stopFile(dataDir))) writeWhole(dataDir, stopFile(dataDir), "");
    await Bun.sleep(stopCheckMs);
  }
}

function answer(request: Request, standby: Standby): Response {
  const requestId = requestIdOf(request.headers);
  const headers = baseHeaders(requestId);
  // Without a usable Host header, Bun sets the URL to the path.
  if (URL.parse(request.url, "http://localhost")?.pathname === "/health/live") {
    return successResponse(requestId, reply({ status: "ok" }), 200, headers);
  }
  const { message, lagSeconds } = standby.describe();
  const details = lagSeconds === undefined ? [] : [{ field: "lag_seconds", message: String(lagSeconds) }];
  return errorResponse(requestId, unavailable(message, { details, remedy: "Use the main server instead." }), headers);
}
