import type { OriginExplanation } from "../../../server/modules/app-keys/origin-explanation.ts";
import type { PositionalArg } from "../../framework/args.ts";
import type { Console } from "../../terminal/console.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { fitSentence } from "../../terminal/output.ts";
import { formatTime } from "../../terminal/relative-time.ts";
import { type AppKey, printKey } from "../key/app-key.ts";

/** Entries of an allowlist. */
export const originsArg = {
  type: "positional",
  required: true,
  variadic: true,
  field: "origins",
  description: "Host such as shop.example.com, or *.example.com for every host below; scheme and port are optional",
} as const satisfies PositionalArg;

/** Prints the key whose list was changed; `-q` prints the list. */
export async function printOrigins(console: Console, key: AppKey): Promise<void> {
  if (!console.quiet || console.json) return printKey(console, key);
  await console.write(key.origins.map((origin) => `${escapeControls(origin)}\n`).join(""));
}

/** An origin that was refused, for people. */
export function formatOrigin({ origin }: { origin: string }): string {
  return origin === "" ? "(none)" : origin;
}

/** Says whether an origin is allowed, what each entry makes of it, what to do, and what was refused lately; `-q`: the first only. */
export async function printVerdict(console: Console, verdict: OriginExplanation, now: number): Promise<void> {
  const { allowed, reason, entries, advice, rejected } = verdict;
  const word = allowed ? "allowed" : "refused";
  if (console.quiet) return console.write(`${word}\n`);
  const lines = [`${word}: ${reason}`];
  if (entries.length > 0) lines.push("", "Entries of the list");
  lines.push(...entries.map(({ pattern, matches, why }) => `  ${matches ? "fits" : "no  "}  ${pattern}: ${why}`));
  if (advice !== null) lines.push("", advice);
  if (rejected.length > 0) lines.push("", "Refused in the last thirty days");
  for (const refused of rejected) {
    const times = refused.attempts === 1 ? "once" : `${refused.attempts} times`;
    lines.push(`  ${formatOrigin(refused)}: ${times}, last ${formatTime(refused.last_at, now)}`);
  }
  await console.write(lines.map((line) => `${fitSentence(console, line)}\n`).join(""));
}
