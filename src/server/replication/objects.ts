import { timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { type ZstdOptions, zstdDecompress } from "node:zlib";
import { damagedReplica, foreignObject } from "../backup/manifest.ts";
import type { Config } from "../config/config.ts";
import { AppError, wrongState } from "../errors.ts";
import { copySecret } from "../security/secret-key.ts";
import { createVault, type Vault } from "../security/vault.ts";
import { attempt } from "../values/attempt.ts";
import { formatBytes, KiB, MiB } from "../values/bytes.ts";
import { openPlace, type Place } from "./place.ts";

export interface Replica extends Place {
  vault: Pick<Vault, "fingerprint" | "mac">;
  /** Whether to read objects without checking their signature, because the key is lost. */
  isUnchecked: boolean;
  /** The remedy for objects of another key. It ends in a command, which the terminal completes. */
  keyRemedy: string;
}

/** The next object refers to an object by its hash. */
export interface StoredObject<Header> {
  header: Header;
  payload: Uint8Array;
  hash: string;
}

const maxBytes: Record<string, number> = { generation: 64 * KiB, snapshot: 64 * MiB, segment: 258 * MiB };

/** Follows the content: the fingerprint of the key, the SHA-256 of the content, and the HMAC of name and hash. */
const sealForm = /^([0-9a-f]{32})([0-9a-f]{64})([0-9a-f]{64})$/;
const sealBytes = 160;

const decompress = promisify<Uint8Array, ZstdOptions, Buffer<ArrayBuffer>>(zstdDecompress);

/** The key is read at the first use. `flags` are those of the `db restore` that reads it. Throws as `openPlace`. */
export function openReplica(
  address: string,
  config: Parameters<typeof copySecret>[0] & Pick<Config, "s3">,
  { timeoutMs, isUnchecked = false, flags = "" }: { timeoutMs?: number; isUnchecked?: boolean; flags?: string } = {},
): Replica {
  const keyRemedy =
    `Copy the secret.key that it was signed with to ${config.dataDir ?? "the data directory"}, or set BODEGA_SECRET, and ` +
    "start this command again. States from before db rekey need the key from before. If that key is lost: " +
    `bodega db restore ${address}${flags} --without-signature`;
  const vault = createVault(() => {
    const secret = copySecret(config);
    if (secret !== null) return secret;
    throw wrongState(`The replica in ${address} is signed with the secret key of its server, which is missing here.`, {
      remedy: keyRemedy,
    });
  });
  return { ...openPlace(address, config, timeoutMs), vault, isUnchecked, keyRemedy };
}

export async function putObject(place: Replica, name: string, header: object, payload?: Uint8Array) {
  const { bytes, hash } = seal(place, name, header, payload);
  await place.put(name, bytes);
  return { size: bytes.length, hash };
}

export function seal({ vault }: Replica, name: string, header: object, payload: Uint8Array = new Uint8Array()) {
  const line = Buffer.from(`${JSON.stringify(header)}\n`);
  const hash = new Bun.SHA256().update(line).update(payload).digest("hex");
  const signature = `${vault.fingerprint()}${hash}${vault.mac("replica", `${name} ${hash}`)}`;
  return { bytes: Buffer.concat([line, payload, Buffer.from(signature)]), hash };
}

/**
 * Verifies the signature. Returns undefined for a missing object.
 * @throws validationFailed for one that is altered, forged or renamed; wrongState for one of another key.
 */
export async function getObject<Header extends { format: number }>(
  place: Replica,
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

/** Refuses an object that has more than Bodega writes, before it is read. */
export function limitSize(name: string, max = Number.POSITIVE_INFINITY) {
  return (bytes: number) => {
    if (bytes > max) throw foreignObject(`${name} has ${formatBytes(bytes)}, more than Bodega writes`);
  };
}

function verify(
  { address, vault, keyRemedy }: Replica,
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

/** Ignores an object that cannot be verified, because a later one can replace it. Other errors are thrown. */
export function ignoreUnverified(error: unknown): undefined {
  if (error instanceof AppError && error.kind !== "unavailable") return undefined;
  throw error;
}

/** Returns undefined for damaged or larger content. */
export function decompressAtMost(bytes: Uint8Array, max: number) {
  return decompress(bytes, { maxOutputLength: max, chunkSize: MiB }).catch(() => undefined);
}
