import { timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { type ZstdOptions, zstdDecompress } from "node:zlib";
import { damagedReplica, foreignObject } from "../backup/manifest.ts";
import { AppError, wrongState } from "../errors.ts";
import { attempt } from "../values/attempt.ts";
import { formatBytes, KiB, MiB } from "../values/units.ts";
import type { ReplicaTarget } from "./target.ts";

/** A verified object of a replica. The `hash` of a segment is in the next segment. */
export interface StoredObject<Header> {
  header: Header;
  payload: Uint8Array;
  hash: string;
}

const maxBytes: Record<string, number> = { generation: 64 * KiB, snapshot: 64 * MiB, segment: 258 * MiB };

/** The end of each object: the fingerprint of the key, the SHA-256 of the content, and the HMAC of name and hash. */
const sealForm = /^([0-9a-f]{32})([0-9a-f]{64})([0-9a-f]{64})$/;
const sealBytes = 160;

const decompress = promisify<Uint8Array, ZstdOptions, Buffer<ArrayBuffer>>(zstdDecompress);

export async function putObject(place: ReplicaTarget, name: string, header: object, payload?: Uint8Array) {
  const { bytes, hash } = seal(place, name, header, payload);
  await place.put(name, bytes);
  return { size: bytes.length, hash };
}

export function seal({ vault }: ReplicaTarget, name: string, header: object, payload: Uint8Array = new Uint8Array()) {
  const line = Buffer.from(`${JSON.stringify(header)}\n`);
  const hash = new Bun.SHA256().update(line).update(payload).digest("hex");
  const signature = `${vault.fingerprint()}${hash}${vault.mac("replica", `${name} ${hash}`)}`;
  return { bytes: Buffer.concat([line, payload, Buffer.from(signature)]), hash };
}

/**
 * Reads an object and verifies its signature. Returns undefined if it is missing.
 * @throws validationFailed if it is altered, forged or renamed; wrongState if another key signed it.
 */
export async function getObject<Header extends { format: number }>(
  place: ReplicaTarget,
  name: string,
  limitMs?: number,
): Promise<StoredObject<Header> | undefined> {
  const bytes = await place.get(name, {
    limitMs,
    checkSize: limitSize(name, maxBytes[name.split("-", 1)[0] as string]),
  });
  if (bytes === undefined) return undefined;
  const seal = Buffer.from(bytes.subarray(-sealBytes)).toString("latin1");
  const [, key, hash = "", signature = ""] = sealForm.exec(seal) ?? [];
  const body = bytes.subarray(0, -sealBytes);
  const isWhole = key !== undefined && Bun.SHA256.hash(body, "hex") === hash;
  if (!isWhole) throw foreignObject(`${name} is truncated or altered`);
  if (!place.isUnchecked) verify(place, name, { key, hash, signature });
  const end = body.indexOf("\n".charCodeAt(0));
  const header = attempt<Header>(() => JSON.parse(Buffer.from(body.subarray(0, end)).toString("utf8")));
  if (header?.format !== 1) throw damagedReplica(`${name} was written by a newer version. Update Bodega`);
  return { header, payload: body.subarray(end + 1), hash };
}

/** Returns a check that refuses an object before it is read, if the object is larger than Bodega writes. */
export function limitSize(name: string, max = Number.POSITIVE_INFINITY) {
  return (bytes: number) => {
    if (bytes > max) throw foreignObject(`${name} has ${formatBytes(bytes)}, more than Bodega writes`);
  };
}

function verify(
  { address, vault, keyRemedy }: ReplicaTarget,
  name: string,
  seal: Record<"key" | "hash" | "signature", string>,
): void {
  const own = vault.fingerprint();
  if (seal.key !== own) {
    const keys = `the secret key ${seal.key.slice(0, 8)}…, not with the one here (${own.slice(0, 8)}…)`;
    throw wrongState(`${name} in ${address} is signed with ${keys}.`, { remedy: keyRemedy });
  }
  const right = Buffer.from(vault.mac("replica", `${name} ${seal.hash}`));
  if (timingSafeEqual(right, Buffer.from(seal.signature))) return;
  throw foreignObject(`${name} is forged or was renamed`);
}

/** Returns undefined for the error of an object that cannot be verified. Throws other errors. */
export function ignoreUnverified(error: unknown): undefined {
  if (error instanceof AppError && error.kind !== "unavailable") return undefined;
  throw error;
}

export function decompressAtMost(bytes: Uint8Array, max: number) {
  return decompress(bytes, { maxOutputLength: max, chunkSize: MiB }).catch(() => undefined);
}
