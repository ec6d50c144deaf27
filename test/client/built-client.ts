import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleClient } from "../../scripts/build-client.ts";
import type * as Source from "../../src/client/client.ts";

/** Loads the built client, and returns it with its source text. */
export async function loadBuiltClient(): Promise<typeof Source & { text: string }> {
  const dir = mkdtempSync(join(tmpdir(), "bodega-client-"));
  try {
    const text = await bundleClient();
    const path = join(dir, "client.js");
    writeFileSync(path, text);
    return { ...((await import(path)) as typeof Source), text };
  } finally {
    rmSync(dir, { recursive: true });
  }
}
