import { existsSync, renameSync, rmSync } from "node:fs";
import type { Config } from "../config/config.ts";
import { databaseFile, standbyFile } from "../config/data-dir.ts";
import { hasWal, removeWal } from "../db/local/merge-wal.ts";
import { syncFile } from "../db/local/sync-file.ts";
import { notFound, validationFailed, wrongState } from "../errors.ts";
import { readNewestClaim } from "./generation.ts";
import { openPlace } from "./place.ts";
import { copyFile, lacksKey, readStandbyState, Standby, type StandbyOptions, type StandbyState } from "./standby.ts";
import { writeReplicaState } from "./state.ts";

/**
 * The standby of a directory, if it can take over.
 * @throws notFound without one, wrongState without its secret key, validationFailed for another place.
 */
export function requireStandby(config: Config): StandbyState {
  const { dataDir, replicateTo } = config;
  const known = readStandbyState(dataDir);
  if (known === undefined) {
    const remedy = "Name its directory with --data-dir, or begin one: bodega standby --from <place>";
    throw notFound("standby", undefined, { in: dataDir, remedy });
  }
  if (replicateTo !== undefined && replicateTo !== known.place) {
    throw validationFailed(`The standby in ${dataDir} follows ${known.place}. Replicate to that place, not another.`);
  }
  if (!lacksKey(config, known.keyFingerprint)) return known;
  throw wrongState(`${dataDir} lacks the secret key of the server. Copy its secret.key there, or set BODEGA_SECRET.`);
}

/**
 * Makes the copy of a standby the database of its directory, with everything that the place has. The server that starts
 * then takes the next generation of the place, and goes on where the copy ends; it fails when another one has taken over
 * meanwhile.
 * @returns the configuration of that server.
 * @throws as `requireStandby` and `Standby.catchUp`.
 */
export async function takeOver(config: Config, { notice, signal }: Omit<StandbyOptions, "config">): Promise<Config> {
  const { dataDir } = config;
  const { place: replicateTo } = requireStandby(config);
  const path = databaseFile(dataDir);
  // Both are missing before the first copy, and only the copy when the last attempt was interrupted.
  if (existsSync(copyFile(dataDir)) || !existsSync(path)) {
    refuseShop(dataDir);
    const place = openPlace(replicateTo, config);
    const standby = new Standby(place, { config, notice, signal });
    const { generation = 0 } = (await readNewestClaim(place)) ?? {};
    let isCurrent = false;
    // The first may restore a new copy, and the next applies what was added meanwhile.
    for (let attempt = 1; attempt <= 3 && !isCurrent; attempt++) isCurrent = await standby.catchUp();
    if (!isCurrent) notice("warn", `${replicateTo} ends with changes that lack their snapshot; they are lost`);
    await standby.close();
    const { state } = requireStandby(config);
    removeWal(path);
    renameSync(copyFile(dataDir), path);
    syncFile(dataDir);
    writeReplicaState(path, { place: replicateTo, generation, end: state?.end ?? null });
    notice("info", `the copy is the database now; start its server with --replicate-to ${replicateTo}`);
  }
  rmSync(standbyFile(dataDir));
  syncFile(dataDir);
  return { ...config, replicateTo };
}

/** Refuses a directory with a database of its own. @throws wrongState */
export function refuseShop(dataDir: string): void {
  const path = databaseFile(dataDir);
  if (!existsSync(path) && !hasWal(path)) return;
  throw wrongState(`${path} is a database of its own, not a standby's copy.`, {
    remedy: "Choose an empty --data-dir, or move that file and its -wal away.",
  });
}
