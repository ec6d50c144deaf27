import { hostname } from "node:os";
import { conflict, validationFailed } from "../errors.ts";
import { generationName, type Link, mainChain, parseGeneration, parseLinks, prefixes, segmentName } from "./names.ts";
import type { Place } from "./place.ts";
import { damagedReplica, type SegmentHeader, sealed, unseal } from "./segment.ts";

/** The server that writes to a place: one at a time. */
interface Claim {
  format: 1;
  database: string;
  host: string;
  data_dir: string;
  at: string;
}

/** The last segment of a place; without header and hash when it is damaged. */
export interface Head {
  link: Link;
  header?: SegmentHeader;
  hash?: string;
}

/**
 * Takes a new generation of a place, after which servers with an earlier one stop.
 * @param options known: the generation that this data directory had; 0 where it had none.
 * @throws conflict when a server elsewhere has taken over since; validationFailed when the place holds the replica of another database; unavailable when it does not answer.
 */
export async function claimGeneration(
  place: Place,
  { database, dataDir, known }: { database: string; dataDir: string; known: number },
): Promise<{ generation: number; head: Head | undefined }> {
  for (;;) {
    const { generation: newest = 0, claim } = (await readNewestClaim(place)) ?? {};
    if (claim !== undefined && claim.database !== database) {
      throw validationFailed(`${place.address} holds the replica of another database.`, {
        remedy: "Choose an empty directory or another prefix for this one.",
      });
    }
    if (claim !== undefined && known > 0 && newest > known) refuseReturn(place, claim, dataDir);
    const generation = Math.max(newest, known) + 1;
    const at = new Date().toISOString();
    const own: Claim = { format: 1, database, host: hostname(), data_dir: dataDir, at };
    const { bytes } = sealed(own, new Uint8Array());
    if (await place.create(generationName(generation), bytes)) return { generation, head: await readHead(place) };
  }
}

/** A machine that was replaced must not take its place back by itself, because it lacks what happened since. */
function refuseReturn(place: Place, claim: Claim, dataDir: string): void {
  if (claim.host === hostname() && claim.data_dir === dataDir) return;
  throw conflict(`The server on ${claim.host} (${claim.data_dir}) took over ${place.address} at ${claim.at}.`, {
    remedy: `Stop that server and restore its state here first: bodega db restore ${place.address}`,
  });
}

/**
 * @throws conflict, with which this server ends, when another one has taken the next generation.
 */
export async function requireNewest(place: Place, generation: number): Promise<void> {
  const claim = await readClaim(place, generation + 1);
  if (claim === undefined) return;
  const { host, data_dir, at } = claim;
  throw conflict(`The server on ${host} (${data_dir}) took over ${place.address} at ${at}. Only one may write there.`, {
    remedy: "Start this server again only when that one was stopped for good.",
  });
}

/** The last generation of a place and the server that took it; undefined for a place without any. */
export async function readNewestClaim(place: Place) {
  const names = await place.list(prefixes.generation);
  const generation = names.flatMap((name) => parseGeneration(name) ?? []).at(-1);
  if (generation === undefined) return undefined;
  return { generation, claim: await readClaim(place, generation) };
}

async function readClaim(place: Place, generation: number): Promise<Claim | undefined> {
  const name = generationName(generation);
  const bytes = await place.get(name);
  if (bytes?.length === 0) throw damagedReplica(`${name} is empty. Delete it`);
  return bytes && unseal<Claim>(bytes, name).header;
}

/** The last segment; undefined where there is none. */
export async function readHead(place: Place): Promise<Head | undefined> {
  const last: Link | undefined = mainChain(parseLinks(await place.list(prefixes.segment))).at(-1);
  if (last === undefined) return undefined;
  const name = segmentName(last);
  const bytes = await place.get(name);
  try {
    return bytes && { link: last, ...unseal<SegmentHeader>(bytes, name) };
  } catch {
    return { link: last };
  }
}
