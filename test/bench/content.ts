import { type Comparison, comparePairs } from "./compare.ts";
import { runLoad, type Send } from "./load.ts";
import { type Bench, type Side, startSide } from "./measure.ts";
import type { Running } from "./process.ts";
import { namespaceQuery } from "./store.ts";

const viewers = 50;

type OnLoaded = (side: Side, server: Running) => void;

/** Likes a second, each by a new visitor, all of the same product, so that they contend for its row. */
export function compareLikes(bench: Bench, onLoaded: OnLoaded): Promise<Comparison> {
  const body = JSON.stringify({ resource_type: "product", resource_id: bench.store.plentifulId });
  return comparePublicWrites(bench, "like", onLoaded, async () => ({ path: `/likes/${namespaceQuery}`, body }));
}

/** Views a second: fifty visitors view a thousand products, each several times. */
export function compareViews(bench: Bench, onLoaded: OnLoaded): Promise<Comparison> {
  return comparePublicWrites(bench, "view", onLoaded, async (side, server) => {
    const visitors = await Promise.all(
      Array.from({ length: viewers }, (_, number) =>
        side === "bare" ? `visitor ${number}` : mintVisitor(bench, server),
      ),
    );
    const bodies = bench.store.productIds.flatMap((resource_id) =>
      visitors.map((visitor) => JSON.stringify({ resource_type: "product", resource_id, visitor })),
    );
    return { path: `/views/${namespaceQuery}`, bodies };
  });
}

/** A visitor's first write creates the token for later ones. */
async function mintVisitor({ store }: Bench, { url }: Running): Promise<string> {
  const response = await fetch(`${url}/likes/${namespaceQuery}`, {
    method: "POST",
    headers: { ...store.headers, "Content-Type": "application/json" },
    body: JSON.stringify({ resource_type: "product", resource_id: store.plentifulId }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`A visitor was not made: ${text}`);
  return (JSON.parse(text) as { data: { visitor: string } }).data.visitor;
}

/** Writes a second without credentials, each round on a fresh copy of the store. */
function comparePublicWrites(
  bench: Bench,
  name: string,
  onLoaded: OnLoaded,
  prepare: (side: Side, server: Running) => Promise<Send>,
): Promise<Comparison> {
  const { workDir, effort } = bench;
  const measure = (side: Side) => async (round: number) => {
    const server = await startSide(bench, side, `${name}-${round}`);
    const send = await prepare(side, server);
    const perSecond = await runLoad(workDir, { url: server.url, headers: {}, seconds: effort.seconds, send });
    onLoaded(side, server);
    await server.stop();
    return perSecond;
  };
  return comparePairs(effort.rounds, measure("bodega"), measure("bare"));
}
