import type { Subprocess } from "bun";
import { ownCommand } from "../../config/own-command.ts";
import { invalidField, unavailable } from "../../errors.ts";
import { attempt } from "../../values/attempt.ts";
import { MiB } from "../../values/units.ts";

/** A picture as we store it: upright WebP without metadata. */
export interface Picture {
  bytes: Uint8Array;
  width: number;
  height: number;
}

/** Maximum pixels of an upload. Decoding takes four bytes of memory for each pixel. */
export const maxPixels = 40_000_000;
/** Maximum width and height of an upload as it is stored. At this size, any WebP has at most 5.5 MB. */
const maxSide = 2560;
/** Maximum bytes of a colour profile, because each stored width has a copy. Profiles of cameras are smaller. */
const maxProfileBytes = 16 * 1024;

/** Encodes a picture as WebP, scaled down to fit width and height. Throws an Error for a damaged picture. */
export async function encodePicture(bytes: Uint8Array, width: number, height = width): Promise<Picture> {
  const image = new Bun.Image(bytes, { maxPixels })
    .resize(width, height, { fit: "inside", withoutEnlargement: true })
    .webp({ quality: 85 });
  const encoded = withoutLongProfile(await image.buffer());
  return { bytes: encoded, width: image.width, height: image.height };
}

/** Removes a long colour profile, which could hide other data. The profile follows the file's extended header. */
function withoutLongProfile(webp: Buffer): Buffer {
  if (webp.toString("latin1", 30, 34) !== "ICCP") return webp;
  const length = webp.readUInt32LE(34);
  if (length <= maxProfileBytes) return webp;
  const rest = webp.subarray(38 + length + (length % 2));
  const header = Buffer.from(webp.subarray(0, 30));
  header.writeUInt8(header.readUInt8(20) & ~0x20, 20);
  header.writeUInt32LE(header.length + rest.length - 8, 4);
  return Buffer.concat([header, rest]);
}

/** Maximum time for a picture. 40 million pixels take two seconds on one core. */
const longestMs = 15_000;
/** Maximum memory of the decoder process. 40 million pixels in several scans take 500 MiB. */
const maxMemory = 1024 * MiB;
const memoryExitCode = 75;
const watchMs = 20;
const idleMs = 60_000;
const simpler = "Save it again, smaller or as a PNG";

type Answer = { picture: Picture } | { fault: string };

interface Decoder {
  process: Subprocess;
  idle: Timer | undefined;
  answer: (answer: Answer) => void;
}

let warm: Decoder | undefined;

/**
 * Encodes an upload in a separate process, which is killed after a deadline or if it takes too much memory. The process
 * decodes one file at a time, so wait for the result before the next call.
 * @throws validationFailed for a file that takes too long or too much memory; unavailable if the process ended for
 * another reason; an Error for a damaged file.
 */
export async function decodeApart(upload: Uint8Array, deadlineMs = longestMs): Promise<Picture> {
  const decoder = warm ?? startDecoder();
  clearTimeout(decoder.idle);
  const { process: child } = decoder;
  const { promise: answered, resolve } = Promise.withResolvers<Answer>();
  decoder.answer = resolve;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, deadlineMs);
  try {
    // If the process has just ended, `send` throws, and `exited` resolves.
    attempt(() => child.send(upload));
    const answer = await Promise.race([answered, child.exited]);
    if (typeof answer === "number") {
      warm = undefined;
      if (isLate) throw invalidField("file", `takes too long to decode. ${simpler}`);
      if (answer === memoryExitCode) throw invalidField("file", `needs too much memory. ${simpler}`);
      throw unavailable("The process that decodes pictures ended.", { isInternal: true });
    }
    if ("fault" in answer) throw new Error(answer.fault);
    decoder.idle = setTimeout(() => {
      warm = undefined;
      child.kill();
    }, idleMs);
    decoder.idle.unref();
    return answer.picture;
  } finally {
    clearTimeout(timer);
  }
}

function startDecoder(): Decoder {
  const child = Bun.spawn([...ownCommand, "__decode"], {
    // The process gets no environment variables, because it must not know secrets.
    env: {},
    stdio: ["ignore", "ignore", "inherit"],
    serialization: "advanced",
    ipc: (answer: Answer) => decoder.answer(answer),
    onExit() {
      if (warm === decoder) warm = undefined;
    },
  });
  child.unref();
  const decoder: Decoder = { process: child, idle: undefined, answer: () => {} };
  warm = decoder;
  return decoder;
}

/** Runs in the decoder process: decodes files until the process that started it ends. */
export function serveDecoder(): Promise<never> {
  process.once("disconnect", () => process.exit(0));
  process.on("message", async (upload: Uint8Array) => {
    const answer: Answer = await encodePicture(upload, maxSide).then(
      (picture) => ({ picture }),
      (error) => ({ fault: String(error) }),
    );
    process.send?.(answer);
  });
  // Bun decodes in another thread, so this timer also runs meanwhile.
  setInterval(() => {
    if (process.memoryUsage.rss() > maxMemory) process.exit(memoryExitCode);
  }, watchMs);
  return new Promise(() => {});
}
