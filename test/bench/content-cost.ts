import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import type { Ctx } from "../../src/server/context.ts";
import { migrate } from "../../src/server/db/migrate.ts";
import { createRejectionBuffer } from "../../src/server/modules/app-keys/rejections.ts";
import { createProduct } from "../../src/server/modules/catalogue/products/service.ts";
import { createWriteLimiter } from "../../src/server/modules/rate-limits/public-writes.ts";
import { react } from "../../src/server/modules/reactions/service.ts";
import { createTenant, requireTenant } from "../../src/server/modules/tenants/service.ts";
import { noteView } from "../../src/server/modules/views/service.ts";
import { ViewBuffer } from "../../src/server/modules/views/view-buffer.ts";
import { issueVisitorToken } from "../../src/server/modules/visitors/actor.ts";
import { createVault } from "../../src/server/security/vault.ts";
import { type Comparison, comparePairs } from "./compare.ts";
import type { Bench } from "./measure.ts";

const lanes = 32;
const people = 500;
const viewed = 64;
const liked = 8;

/**
 * Microseconds of a view compared with a like, without HTTP, 32 at once; 500 visitors, new in each round, view 64
 * products and like 8 of them. The time includes writing the views to the database.
 */
export async function compareCosts({ workDir, effort }: Bench): Promise<Comparison> {
  const db = await openStoreDatabase({ dataDir: join(workDir, "content-cost") });
  const vault = createVault(() => "only for as long as the benchmark runs");
  const notice = () => {};
  const memory = {
    views: new ViewBuffer({ db, notice }),
    rejections: createRejectionBuffer(db),
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
    } as const;
    await createTenant(system, { namespace: "bench", title: "Bench", addressWrites: 0, visitorWrites: 0 });
    const ctx: Ctx = {
      ...system,
      memory,
      tenant: await requireTenant(system, "bench"),
      client: { ip: null, userAgent: "Mozilla/5.0" },
    };
    const resources: { resource_type: string; resource_id: string }[] = [];
    for (let number = 1; number <= viewed; number++) {
      const { json } = await createProduct(ctx, { title: `Bench ${number}`, price: 1 });
      resources.push({ resource_type: "product", resource_id: (JSON.parse(json) as { id: string }).id });
    }
    const pairs = (products: number) => {
      const visitors = Array.from({ length: people }, () => issueVisitorToken(vault, ctx.tenant.id).visitor);
      return visitors.flatMap((visitor) => resources.slice(0, products).map((resource) => ({ ...resource, visitor })));
    };
    return await comparePairs(
      effort.rounds,
      () =>
        timeEach(
          pairs(viewed),
          async (view) => noteView(ctx, view),
          () => memory.views.flush(),
        ),
      () => timeEach(pairs(liked), async (like) => react(ctx, "like", like)),
    );
  } finally {
    await Promise.all([memory.views.stop(), memory.writes.stop()]);
    await db.close();
  }
}

/** Microseconds of each of these calls, 32 at once. */
async function timeEach<Input>(
  inputs: readonly Input[],
  call: (input: Input) => Promise<unknown>,
  finish: () => Promise<void> = async () => {},
): Promise<number> {
  const rest = inputs.values();
  const work = async () => {
    for (const input of rest) await call(input);
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: lanes }, work));
  await finish();
  return ((performance.now() - started) * 1000) / inputs.length;
}
