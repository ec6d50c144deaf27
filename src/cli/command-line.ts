import type { sharedArgs } from "./args.ts";

/** Command lines for remedies, with the flags that say which database is meant. */
export function commandLine(
  args: Partial<Record<keyof typeof sharedArgs, string | boolean>>,
): (words: string) => string {
  const given = (["data-dir", "database-url"] as const).flatMap((name) => {
    const value = args[name];
    return typeof value === "string" ? [` --${name} '${value.replaceAll("'", "'\\''")}'`] : [];
  });
  return (words) => `bodega ${words}${given.join("")}`;
}
