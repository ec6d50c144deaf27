import { type Bench, type ComparedCost, compareFresh, type Side } from "./measure.ts";
import type { Running } from "./process.ts";
import { namespaceQuery } from "./store.ts";

const viewers = 50;

type OnLoaded = (side: Side, server: Running) => void;

/** Likes without credentials, each by a new visitor, all of the same product, so that they contend for its row. */
export function compareLikes(bench: Bench, onLoaded: OnLoaded): Promise<ComparedCost> {
  const body = JSON.stringify({ resource_type: "product", resource_id: bench.store.plentifulId });
  const like = { method: "POST", path: `/likes/${namespaceQuery}`, body } as const;
  return compareFresh(bench, "like", () => [like], { onLoaded, headers: {} });
}

/** Views without credentials: fifty visitors view a thousand products, each several times. */
export function compareViews(bench: Bench, onLoaded: OnLoaded): Promise<ComparedCost> {
  const prepare = async (side: Side, server: Running) => {
    const visitors = await Promise.all(
      Array.from({ length: viewers }, (_, number) =>
        side === "bare" ? `visitor ${number}` : issueVisitorToken(bench, server),
      ),
    );
    return bench.store.productIds.flatMap((resource_id) =>
      visitors.map((visitor) => {
        const body = JSON.stringify({ resource_type: "product", resource_id, visitor });
        return { method: "POST", path: `/views/${namespaceQuery}`, body } as const;
      }),
    );
  };
  return compareFresh(bench, "view", prepare, { onLoaded, headers: {} });
}

/** A visitor's first write creates the token for later ones. */
async function issueVisitorToken({ store }: Bench, { url }: Running): Promise<string> {
  const response = await fetch(`${url}/likes/${namespaceQuery}`, {
    method: "POST",
    headers: { ...store.headers, "Content-Type": "application/json" },
    body: JSON.stringify({ resource_type: "product", resource_id: store.plentifulId }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`A visitor was not made: ${text}`);
  return (JSON.parse(text) as { data: { visitor: string } }).data.visitor;
}
