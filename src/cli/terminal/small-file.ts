import { type Console, invalidFlag } from "./console.ts";

const maxBytes = 1024 * 1024;

/** Reads a text file of at most 1 MiB, or standard input for `-`. Errors: malformedRequest. */
export async function readSmallFile(console: Console, path: string): Promise<string> {
  if (path === "-") return new Response(console.streamInput(new AbortController().signal)).text();
  const file = Bun.file(path);
  if (file.size > maxBytes) throw invalidFlag("<file>", `is larger than 1 MiB: ${path}`);
  try {
    return await file.text();
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    throw invalidFlag("<file>", code === "ENOENT" ? `does not exist: ${path}` : `cannot be read (${code}): ${path}`);
  }
}
