import { unavailable } from "../errors.ts";
import { attempt } from "../values/attempt.ts";

/** Returns the output. Errors: unavailable with the message of `systemctl`. */
export function runSystemctl(...words: readonly string[]): string {
  const done = attempt(() => Bun.spawnSync(["systemctl", ...words], { stdio: ["ignore", "pipe", "pipe"] }));
  if (done?.exitCode === 0) return done.stdout.toString().trim();
  throw unavailable(`systemctl ${words.join(" ")} failed: ${done?.stderr.toString().trim() ?? "it is not installed."}`);
}
