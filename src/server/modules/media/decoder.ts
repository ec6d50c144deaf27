import { ownCommand } from "../../config/own-command.ts";
import { invalidField, unavailable } from "../../errors.ts";
import { MiB } from "../../values/bytes.ts";
import { encodePicture, type Picture } from "./encode.ts";

/** A picture of 40 million pixels takes 2 seconds on one core. */
const longestMs = 15_000;
/** One of 40 million pixels in several scans takes 500 MiB. */
const maxMemory = 1024 * MiB;
const memoryExitCode = 75;
const watchMs = 20;
const simpler = "Save it again, smaller or as a PNG";

type Job = { upload: Uint8Array; maxSide: number };

type Answer = { picture: Picture } | { fault: string };

/**
 * Encodes an untrusted file as `encodePicture` does, in a process of its own, which is killed after a deadline or if it
 * uses too much memory.
 * @throws validationFailed for a file that takes too long or too much memory; unavailable if the process ended for
 * another reason; an Error for a damaged file.
 */
export async function decodeApart(job: Job, deadlineMs = longestMs): Promise<Picture> {
  const answered = Promise.withResolvers<Answer>();
  const child = Bun.spawn([...ownCommand, "__decode"], {
    // The process needs no settings, and must not know secrets.
    env: {},
    stdio: ["ignore", "ignore", "inherit"],
    serialization: "advanced",
    ipc: answered.resolve,
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, deadlineMs);
  try {
    child.send(job);
    const answer = await Promise.race([answered.promise, child.exited]);
    if (isLate) throw invalidField("file", `takes too long to decode. ${simpler}`);
    if (answer === memoryExitCode) throw invalidField("file", `needs too much memory. ${simpler}`);
    if (typeof answer === "number") throw unavailable("The process that decodes pictures ended.", { isInternal: true });
    if ("fault" in answer) throw new Error(answer.fault);
    return answer.picture;
  } finally {
    clearTimeout(timer);
    child.kill();
  }
}

/** The main function of that process. */
export function serveDecoder(): Promise<never> {
  process.once("disconnect", () => process.exit(0));
  process.on("message", async ({ upload, maxSide }: Job) => {
    const answer: Answer = await encodePicture(upload, maxSide).then(
      (picture) => ({ picture }),
      (error) => ({ fault: String(error) }),
    );
    process.send?.(answer);
  });
  // Pictures are decoded in Bun's thread pool, so the event loop is free for this check.
  setInterval(() => {
    if (process.memoryUsage.rss() > maxMemory) process.exit(memoryExitCode);
  }, watchMs);
  return new Promise(() => {});
}
