import { type AppKey, printKey } from "./app-key.ts";
import type { PositionalArg } from "./args.ts";
import { escapeControls } from "./escape.ts";
import type { Io } from "./io.ts";

/** Entries of an allowlist. */
export const originsArg = {
  type: "positional",
  required: true,
  variadic: true,
  field: "origins",
  description: "Host such as shop.example.com, or *.example.com for every host below; scheme and port are optional",
} as const satisfies PositionalArg;

/** Prints the key whose list was changed; `-q` prints the list. */
export async function printOrigins(io: Io, key: AppKey): Promise<void> {
  if (!io.quiet || io.json) return printKey(io, key);
  await io.write(key.origins.map((origin) => `${escapeControls(origin)}\n`).join(""));
}
