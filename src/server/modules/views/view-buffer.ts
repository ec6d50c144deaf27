import { sql } from "drizzle-orm";
import type { WorkCtx } from "../../context.ts";
import type { Database, Session } from "../../db/session.ts";
import { all, bind, param, run, statement } from "../../db/statement.ts";
import { unavailable } from "../../errors.ts";
import { LruCache } from "../../values/lru-cache.ts";
import { hasRoom, isShown, resourceOf } from "../resources/registry.ts";
import { resourceCounts } from "../resources/table.ts";
import { dayOf } from "./service.ts";
import { viewDays, viewDedupKeys } from "./table.ts";

const keyColumns = sql`day, tenant_id, resource_type, resource_id, dedup_key`;
const rows = sql`(select value ->> 0 as day, value ->> 1 as tenant_id, value ->> 2 as resource_type,
  value ->> 3 as resource_id, value ->> 4 as dedup_key from json_each(${param("rows")})) r`;
// Omits resources that were hidden or deleted meanwhile, and those beyond the maximum. The keys are sorted, so that
// each page of a large table is written once.
const addKeys = statement<Record<"day" | "tenant_id" | "resource_type" | "resource_id" | "dedup_key", string>>(sql`
  insert into ${viewDedupKeys} (${keyColumns})
  select ${keyColumns} from ${rows} where ${isShown(resourceOf("r"))} and ${hasRoom(resourceOf("r"))} order by ${keyColumns}
  on conflict do nothing returning ${keyColumns}`);
const addDays = statement(sql`
  insert into ${viewDays} (tenant_id, resource_type, resource_id, day, views)
  select tenant_id, resource_type, resource_id, day, count(*) from ${rows} where true group by 1, 2, 3, 4
  on conflict (tenant_id, resource_type, resource_id, day) do update set views = views + excluded.views`);
const addCounts = statement(sql`
  insert into ${resourceCounts} (tenant_id, resource_type, resource_id, views)
  select tenant_id, resource_type, resource_id, count(*) from ${rows} where true group by 1, 2, 3
  on conflict (tenant_id, resource_type, resource_id) do update set views = views + excluded.views`);
const removeOld = statement(sql`
  delete from ${viewDedupKeys} where (${keyColumns}) in (
    select ${keyColumns} from ${viewDedupKeys} where day < ${param("before")} limit 1000)`);

type View = Record<"day" | "tenantId" | "resourceType" | "resourceId" | "dedupKey", string>;

// Writes views and their counts in one transaction. A view counts only if its dedup key is new, so none counts twice,
// even in several processes. Views of resources that are hidden by now do not count.
function writeViews(db: Session, views: readonly View[]): Promise<void> {
  return db.transaction(async (tx) => {
    const given = views.map((view) => [view.day, view.tenantId, view.resourceType, view.resourceId, view.dedupKey]);
    const added = await all(tx, addKeys, { rows: JSON.stringify(given) });
    const values = { rows: JSON.stringify(added.map((row) => Object.values(row))) };
    await tx.batch([bind(addDays, values), bind(addCounts, values)]);
  });
}

/**
 * Removes dedup keys, at most a thousand per call. Those of yesterday stay: yesterday's last views are written today,
 * `doctor` compares counts with them, and a clock may be an hour behind.
 */
export function purgeViewDedupKeys(ctx: WorkCtx): Promise<number> {
  return run(ctx.db, removeOld, { before: dayOf(ctx.now() - 25 * 3_600_000) });
}

/** How long a stopping process tries to write its last views, in milliseconds. */
export const lastWritesMs = 5000;

/** A view is written after this time, so that it is in the database within a second. */
const pauseMs = 500;
const pauseAfterFailureMs = 1000;
const pauseAtStopMs = 250;
/** Maximum views in a transaction, because other writers wait until it ends. */
const maxBatch = 2000;
const defaultMaxWaiting = 100_000;
const maxKnown = 50_000;

interface BufferDeps {
  db: Database;
  /** Called when writes begin to fail, but not for each failure. */
  notice: (message: string) => void;
  maxWaiting?: number;
  lastMs?: number;
}

/**
 * The write-behind buffer of one process: views wait in memory and are written together. Several processes can each
 * have one, because a view counts only for the process that writes its dedup key first.
 */
export class ViewBuffer {
  readonly #deps: BufferDeps;
  readonly #known = new LruCache<true>(maxKnown);
  #waiting: View[] = [];
  #timer: Timer | undefined;
  #writing: Promise<void> | undefined;
  #isFailing = false;
  #isStopped = false;

  constructor(deps: BufferDeps) {
    this.#deps = deps;
  }

  isKnown(dedupKey: string): boolean {
    return this.#known.get(dedupKey) === true;
  }

  add(view: View): void {
    const { maxWaiting = defaultMaxWaiting } = this.#deps;
    if (this.#waiting.length >= maxWaiting) throw unavailable("Too many views are waiting.");
    this.#known.set(view.dedupKey, true);
    this.#waiting.push(view);
    this.#schedule();
  }

  /** Writes all waiting views. Errors: those of the database; unwritten views stay in the buffer. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
      this.#schedule();
    });
    return this.#writing;
  }

  /** Writes all waiting views and ends; views that cannot be written in time are lost. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const deadline = performance.now() + (this.#deps.lastMs ?? lastWritesMs);
    for (;;) {
      await this.flush().catch(() => {});
      const { length } = this.#waiting;
      if (length === 0) return;
      if (performance.now() > deadline)
        return this.#deps.notice(`views lost because they could not be written: ${length}`);
      await Bun.sleep(pauseAtStopMs);
    }
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const batch = this.#waiting.slice(0, maxBatch);
        await writeViews(this.#deps.db, batch);
        this.#waiting = this.#waiting.slice(batch.length);
      }
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#deps.notice("views cannot be written; retrying every second");
      this.#isFailing = true;
      throw error;
    }
  }

  #schedule(): void {
    if (this.#isStopped || this.#timer !== undefined || this.#writing || this.#waiting.length === 0) return;
    const ms = this.#isFailing ? pauseAfterFailureMs : pauseMs;
    this.#timer = setTimeout(() => this.flush().catch(() => {}), ms);
  }
}
