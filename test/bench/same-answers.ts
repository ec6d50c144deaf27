import { isDeepStrictEqual } from "node:util";
import type { Side } from "./measure.ts";
import type { Running } from "./process.ts";

/**
 * Checks that both sides return the same documents before their speeds are compared, by the first path of each.
 * @throws Error that shows where they differ.
 */
export async function assertSameAnswers(
  servers: Record<Side, Running>,
  paths: Record<Side, string[]>,
  headers: Record<string, string>,
): Promise<void> {
  const read = async (side: Side) => {
    const url = `${servers[side].url}${paths[side][0]}`;
    const response = await fetch(url, { headers });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${url} answers ${response.status}: ${text}`);
    return (JSON.parse(text) as { data: unknown }).data;
  };
  const [ours, bare] = await Promise.all([read("bodega"), read("bare")]);
  if (isDeepStrictEqual(ours, bare)) return;
  throw new Error(`The two sides differ at ${paths.bodega[0]}:\n${JSON.stringify(ours)}\n${JSON.stringify(bare)}`);
}
