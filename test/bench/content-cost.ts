import { join } from "node:path";
import type { Ctx } from "../../src/server/context.ts";
import { migrate } from "../../src/server/db/migrate.ts";
import { openDatabase } from "../../src/server/db/open.ts";
import { createProduct } from "../../src/server/modules/products/service.ts";
import { createWriteLimiter } from "../../src/server/modules/rate-limits/public-writes.ts";
import { react } from "../../src/server/modules/reactions/service.ts";
import { createTenant, requireTenant } from "../../src/server/modules/tenants/service.ts";
import { createViewGatherer } from "../../src/server/modules/views/gatherer.ts";
import { noteView } from "../../src/server/modules/views/service.ts";
import { mintVisitor } from "../../src/server/modules/visitors/token.ts";
import { createVault } from "../../src/server/vault.ts";
import { type Comparison, comparePairs } from "./compare.ts";
import type { Bench } from "./measure.ts";

const lanes = 32;
const likes = 3200;
const views = 32_000;

/**
 * Microseconds that a view costs beside a like, without HTTP, which both have alike: 32 at once, each by another visitor,
 * all of one product, and written down when the clock stops.
 */
export async function compareCosts({ workDir, effort }: Bench): Promise<Comparison> {
  const db = await openDatabase({ dataDir: join(workDir, "content-cost") });
  const vault = createVault(() => "only for as long as the benchmark runs");
  const notice = () => {};
  const memory = {
    views: createViewGatherer({ db, notice }),
    writes: createWriteLimiter({ db, vault, now: Date.now, notice }),
  };
  try {
    await migrate(db);
    const system = {
      db,
      vault,
      actor: { kind: "visitor" },
      requestId: "bench",
      now: Date.now,
      clientIp: null,
    } as const;
    await createTenant(system, { namespace: "bench", title: "Bench", addressWrites: 0, visitorWrites: 0 });
    const ctx: Ctx = { ...system, memory, tenant: await requireTenant(system, "bench"), userAgent: "Mozilla/5.0" };
    const { json } = await createProduct(ctx, { title: "Bench", price: 1 });
    const resource = { resource_type: "product", resource_id: (JSON.parse(json) as { id: string }).id };
    const visitors = () => Array.from({ length: views }, () => mintVisitor(vault, ctx.tenant.id).token);
    return await comparePairs(
      effort.rounds,
      () => {
        const tokens = visitors();
        return timeEach(
          views,
          async (index) => noteView(ctx, { ...resource, visitor: tokens[index] }),
          () => memory.views.flush(),
        );
      },
      () => {
        const tokens = visitors();
        return timeEach(likes, async (index) => react(ctx, "like", { ...resource, visitor: tokens[index] }));
      },
    );
  } finally {
    await Promise.all([memory.views.stop(), memory.writes.stop()]);
    await db.close();
  }
}

/** Microseconds of each of so many calls, 32 at once. */
async function timeEach(
  count: number,
  call: (index: number) => Promise<unknown>,
  finish: () => Promise<void> = async () => {},
): Promise<number> {
  let next = 0;
  const work = async () => {
    while (next < count) {
      const index = next;
      next += 1;
      await call(index);
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: lanes }, work));
  await finish();
  return ((performance.now() - started) * 1000) / count;
}
