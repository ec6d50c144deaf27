import type { OriginExplanation } from "../../../server/modules/app-keys/origin-explanation.ts";
import type { PositionalArg } from "../../framework/args.ts";
import type { Console } from "../../terminal/console.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { fitSentence } from "../../terminal/output.ts";
import { formatTime } from "../../terminal/relative-time.ts";
import { type AppKey, printKey } from "../key/print.ts";

/** Origins for an allowlist. */
export const originsArg = {
  type: "positional",
  required: true,
  variadic: true,
  field: "origins",
  description: "Host such as shop.example.com, or *.example.com for all subdomains; scheme and port are optional",
} as const satisfies PositionalArg;

/** Prints the key of a changed list; `-q` prints the list. */
export async function printOrigins(console: Console, key: AppKey): Promise<void> {
  if (!console.quiet || console.json) return printKey(console, key);
  await console.write(key.origins.map((origin) => `${escapeControls(origin)}\n`).join(""));
}

/** A rejected origin; `(none)` for a request without an Origin header. */
export function formatOrigin({ origin }: { origin: string }): string {
  return origin === "" ? "(none)" : origin;
}

/** Prints whether an origin is allowed and why. `-q` prints one word. */
export async function printVerdict(console: Console, verdict: OriginExplanation, now: number): Promise<void> {
  const { allowed, reason, entries, advice, rejected } = verdict;
  const word = allowed ? "allowed" : "refused";
  if (console.quiet) return console.write(`${word}\n`);
  const lines = [`${word}: ${reason}`];
  if (entries.length > 0) lines.push("", "List entries");
  lines.push(
    ...entries.map(({ pattern, matches, why }) => `  ${matches ? "match   " : "no match"}  ${pattern}: ${why}`),
  );
  if (advice !== null) lines.push("", advice);
  if (rejected.length > 0) lines.push("", "Rejected in the last 30 days");
  for (const origin of rejected) {
    const times = origin.attempts === 1 ? "once" : `${origin.attempts} times`;
    lines.push(`  ${formatOrigin(origin)}: ${times}, last ${formatTime(origin.last_at, now)}`);
  }
  await console.write(lines.map((line) => `${fitSentence(console, line)}\n`).join(""));
}
