import { existsSync, renameSync, rmSync } from "node:fs";
import type { Config } from "../config/config.ts";
import { copyFile, databaseFile, standbyFile } from "../config/data-dir.ts";
import { hasWal, removeWal } from "../db/local/merge-wal.ts";
import { syncFile } from "../db/local/sync-file.ts";
import type { WalPosition } from "../db/local/wal-frames.ts";
import { notFound, validationFailed, wrongState } from "../errors.ts";
import type { ChainState } from "./chain.ts";
import { claimGeneration, readNewestClaim, requireNewest } from "./generation.ts";
import { readStandbyState, Standby, type StandbyOptions, type StandbyState } from "./standby.ts";
import { openReplica, readReplicaState, writeReplicaState } from "./target.ts";

/** Returns a standby's state, also after promotion. Throws notFound; validationFailed for another `--replicate-to`. */
export function requireStandby(config: Config): Pick<StandbyState, "place" | "state"> {
  const { dataDir, replicateTo } = config;
  const own = readReplicaState(databaseFile(dataDir));
  const known = readStandbyState(dataDir) ?? (own && { place: own.place, state: null });
  if (known === undefined) {
    const remedy = "Name its directory with --data-dir, or start a new standby: bodega standby --from <place>";
    throw notFound("standby", undefined, { in: dataDir, remedy });
  }
  if (replicateTo !== undefined && replicateTo !== known.place) {
    throw validationFailed(`The standby in ${dataDir} follows ${known.place}. Set --replicate-to to the same place.`);
  }
  return known;
}

type TakeOverOptions = Omit<StandbyOptions, "config">;

/**
 * Claims the replica's place, so that the server that replicates there stops. Then makes the copy the database.
 * @throws as `requireStandby` and `Standby.catchUp`; conflict if another server takes over meanwhile.
 */
export async function takeOver(config: Config, options: TakeOverOptions): Promise<Config> {
  const { dataDir } = config;
  const { place: replicateTo } = requireStandby(config);
  const path = databaseFile(dataDir);
  // Before the first copy, neither file exists. After an interrupted promotion, only the copy is missing.
  if (existsSync(copyFile(dataDir)) || !existsSync(path)) {
    refuseShop(dataDir);
    const standby = new Standby(openReplica(replicateTo, config), { config, ...options });
    await promote(standby, replicateTo, config, options).finally(() => standby.close());
    removeWal(path);
    renameSync(copyFile(dataDir), path);
    syncFile(dataDir);
  }
  rmSync(standbyFile(dataDir), { force: true });
  syncFile(dataDir);
  return { ...config, replicateTo };
}

/** Claims the replica after all checks, because the claim stops the other server. Then applies its last changes. */
async function promote(standby: Standby, address: string, config: Config, { notice, pollMs = 1000 }: TakeOverOptions) {
  const { dataDir } = config;
  const place = openReplica(address, config);
  let isCurrent = false;
  // The first pass may restore a new copy; the next one applies what was added meanwhile.
  for (let attempt = 1; attempt <= 3 && !isCurrent; attempt++) isCurrent = await standby.catchUp();
  const { database } = requireStandby(config).state as ChainState;
  const generation = ((await readNewestClaim(place))?.generation ?? 0) + 1;
  // The state identifies the file even after its rename. So an interrupted promotion can continue the replica.
  const note = (end: WalPosition | null = null) =>
    writeReplicaState(copyFile(dataDir), { place: address, generation, end }, true);
  note();
  if (!(await claimGeneration(place, { database, dataDir, generation }))) await requireNewest(place, generation - 1);
  // The replaced server notices the claim during these polls, and sends its last changes.
  for (let poll = 1; poll <= 3; poll++) {
    await Bun.sleep(pollMs);
    isCurrent = await standby.catchUp();
  }
  await requireNewest(place, generation);
  if (!isCurrent) notice("warn", `${address} ends with changes whose snapshot is missing; these changes are lost`);
  const { at, end } = requireStandby(config).state as ChainState;
  note(end);
  notice(
    "info",
    `${standby.applied} segments were applied; the copy is now the database, with all changes until ${at}`,
  );
}

export function refuseShop(dataDir: string): void {
  const path = databaseFile(dataDir);
  if (!existsSync(path) && !hasWal(path)) return;
  throw wrongState(`${path} is a database of its own, not a standby's copy.`, {
    remedy: "Choose an empty --data-dir, or move that file and its -wal away.",
  });
}
