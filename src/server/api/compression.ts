import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** Brotli takes several times as long for the same size. */
export type Coding = "zstd" | "gzip";
type Body = Uint8Array<ArrayBuffer>;

const minLength = 1024;
/** Longer texts are compressed in a thread. */
const maxLengthAtOnce = 64 * 1024;
/** Higher levels take much longer and save a few percent of a product list. */
const zstdLevel = { level: 3 } as const;
const gzipLevel = { level: 1 } as const;
const gzipInThread = promisify(gzip);

/**
 * Reads the names in `Accept-Encoding`, not their order of preference. Use it only for texts without secrets, because the length of a
 * compressed text reveals repetitions in it (BREACH).
 */
export function chooseCoding(accepted: string | null, text: string): Coding | undefined {
  if (accepted === null || text.length < minLength) return undefined;
  const names = accepted
    .toLowerCase()
    .split(",", 20)
    .map((one) => one.replace(/\s+/g, ""));
  const usable = names.filter((one) => !/;q=0(?:\.0*)?$/.test(one)).map((one) => one.split(";")[0]);
  return (["zstd", "gzip"] as const).find((name) => usable.includes(name));
}

export function compress(text: string, coding: Coding): Body | Promise<Body> {
  const isLong = text.length > maxLengthAtOnce;
  if (coding === "zstd") return (isLong ? Bun.zstdCompress : Bun.zstdCompressSync)(text, zstdLevel) as Body;
  return isLong ? (gzipInThread(text, gzipLevel) as Promise<Body>) : Bun.gzipSync(Buffer.from(text), gzipLevel);
}
