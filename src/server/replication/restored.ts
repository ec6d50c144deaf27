import type { Config } from "../config/config.ts";
import { databaseFile } from "../config/data-dir.ts";
import { readPlace } from "./generation.ts";
import { openPlace, type Place } from "./place.ts";
import { writeReplicaState } from "./state.ts";

/** A restore is not held up for longer by a place that does not answer. */
const timeoutMs = 5000;

/** Reads the newest state of a place before it is restored. Returns a function that notes that the database continues it. */
export async function beginRestore(place: Place): Promise<(dataDir: string) => void> {
  // A damaged claim does not keep anyone from a restore.
  const { newest: restored } = await readPlace(place).catch(() => ({ newest: "" }));
  const state = { place: place.address, generation: 0, end: null, restored };
  return (dataDir) => writeReplicaState(databaseFile(dataDir), state);
}

/** Says that the replica in the settings has newer changes than a restored state; undefined where it has none. */
export async function describeNewer(config: Config, stateAt: string | undefined): Promise<string | undefined> {
  if (config.replicateTo === undefined || config.databaseUrl !== undefined) return undefined;
  const place = openPlace(config.replicateTo, config, timeoutMs);
  const { claim, head } = (await readPlace(place).catch(() => undefined)) ?? {};
  const until = head?.header?.at ?? claim?.at;
  if (claim === undefined || until === undefined || (stateAt !== undefined && until <= stateAt)) return undefined;
  return (
    `The replica ${place.address} of the server on ${claim.host} (${claim.data_dir}) has newer changes, until ${until}. ` +
    `For a drill, unset BODEGA_REPLICATE_TO. To restore the newest state instead: bodega db restore ${place.address}`
  );
}
