import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** The codings of replies. Brotli takes several times as long and saves no more, so it is not used. */
export type Coding = "zstd" | "gzip";
type Body = Uint8Array<ArrayBuffer>;

const minLength = 1024;
/** Longer content is compressed in another thread. */
const maxLengthAtOnce = 64 * 1024;
/** Higher levels take much longer and save a few percent of a product list. */
const zstdLevel = { level: 3 } as const;
const gzipLevel = { level: 1 } as const;
const gzipInThread = promisify(gzip);

/**
 * Returns zstd if `Accept-Encoding` names it, else gzip if that is named; preferences are ignored. Use it only for texts
 * without secrets, because the length of a compressed text reveals repetitions in it (BREACH).
 */
export function chooseCoding(accepted: string | null, length: number): Coding | undefined {
  if (accepted === null || length < minLength) return undefined;
  const names = accepted
    .toLowerCase()
    .split(",", 20)
    .map((one) => one.replace(/\s+/g, ""));
  const usable = names.filter((one) => !/;q=0(?:\.0*)?$/.test(one)).map((one) => one.split(";")[0]);
  return (["zstd", "gzip"] as const).find((name) => usable.includes(name));
}

/** Returns one gzip member without optional fields, or one zstd frame without dictionary. */
export function compress(content: string | Body, coding: Coding): Body | Promise<Body> {
  const isLong = content.length > maxLengthAtOnce;
  if (coding === "zstd") return (isLong ? Bun.zstdCompress : Bun.zstdCompressSync)(content, zstdLevel) as Body;
  return isLong ? (gzipInThread(content, gzipLevel) as Promise<Body>) : Bun.gzipSync(content, gzipLevel);
}
