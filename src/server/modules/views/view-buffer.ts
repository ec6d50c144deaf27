import type { Database } from "../../db/session.ts";
import { unavailable } from "../../errors.ts";
import { LruCache } from "../../values/lru-cache.ts";
import { createCountReader, type ViewGroup, writeViews } from "./service.ts";

/** How long a process that stops tries to write its last views, in milliseconds. */
export const lastWritesMs = 5000;

/** A view is written after this time, so that it is in the database within a second. */
const pauseMs = 500;
const pauseAfterFailureMs = 1000;
const pauseAtStopMs = 250;
/** In one transaction, for which other writers wait. Keys are spread over their table, so that many together cost much less. */
const maxBatch = 20_000;
const maxGroups = 500;
/** About ten megabytes. */
const defaultMaxWaiting = 100_000;
const maxKnown = 50_000;

declare module "../../context.ts" {
  interface ProcessMemory {
    views: ViewBuffer;
  }
}

interface BufferDeps {
  db: Database;
  /** Called once each time writes begin to fail. */
  notice: (message: string) => void;
  maxWaiting?: number;
  /** How long `stop` tries, in milliseconds. */
  lastMs?: number;
}

/**
 * The write-behind buffer of one process: views wait in memory and are written together. Several processes may each have
 * one, because a view counts only for the process that writes its dedup key first.
 */
export class ViewBuffer {
  /** The views of a resource in the database, a promise unless cached; undefined if hidden. Errors: the database's. */
  readonly count: ReturnType<typeof createCountReader>;
  readonly #deps: BufferDeps;
  readonly #groups = new Map<string, ViewGroup>();
  readonly #known = new LruCache<true>(maxKnown);
  #waiting = 0;
  #timer: Timer | undefined;
  #writing: Promise<void> | undefined;
  #batchSize = maxBatch;
  #isFailing = false;
  #isStopped = false;

  constructor(deps: BufferDeps) {
    this.#deps = deps;
    this.count = createCountReader(deps.db);
  }

  isKnown(dedupKey: string): boolean {
    return this.#known.get(dedupKey) === true;
  }

  add({ dedupKey, ...group }: Omit<ViewGroup, "dedupKeys"> & { dedupKey: string }): void {
    if (this.#waiting >= (this.#deps.maxWaiting ?? defaultMaxWaiting)) throw unavailable("Too many views are waiting.");
    this.#known.set(dedupKey, true);
    this.#put(group, [dedupKey]);
    if (this.#writing === undefined) this.#schedule();
  }

  /** Writes all waiting views. Errors: those of the database; views that were not written stay in the buffer. */
  async flush(): Promise<void> {
    // Views that were added after the current write began are not in it.
    while (this.#writing) await this.#writing.catch(() => {});
    if (this.#waiting === 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writeAll();
    try {
      await this.#writing;
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#deps.notice("views cannot be written; retrying every second");
      this.#isFailing = true;
      throw error;
    } finally {
      this.#writing = undefined;
      if (this.#waiting > 0) this.#schedule();
    }
  }

  /** Writes all waiting views and ends; views that cannot be written in time are lost. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    const deadline = performance.now() + (this.#deps.lastMs ?? lastWritesMs);
    while (this.#waiting > 0 || this.#writing) {
      try {
        await this.flush();
      } catch {
        if (performance.now() > deadline) {
          this.#deps.notice(`views lost because they could not be written: ${this.#waiting}`);
          return;
        }
        await Bun.sleep(pauseAtStopMs);
      }
    }
  }

  /** Writes the views that wait when it begins. It stops at the first failure, to spare a failing database. */
  async #writeAll(): Promise<void> {
    let left = this.#waiting;
    while (left > 0) {
      const batch = this.#popBatch(Math.min(this.#batchSize, left));
      const size = batch.reduce((sum, { dedupKeys }) => sum + dedupKeys.length, 0);
      left -= size;
      try {
        // A resource that is hidden now may be shown again today, and its views then count.
        for (const { dedupKeys } of await writeViews(this.#deps.db, batch)) {
          for (const key of dedupKeys) this.#known.delete(key);
        }
      } catch (error) {
        // Queued last, in smaller batches, so that a view that cannot be written does not block others.
        for (const { dedupKeys, ...group } of batch) this.#put(group, dedupKeys);
        this.#batchSize = Math.max(1, Math.floor(size / 2));
        throw error;
      }
      this.#batchSize = Math.min(maxBatch, this.#batchSize * 2);
    }
  }

  #popBatch(size: number): ViewGroup[] {
    const batch: ViewGroup[] = [];
    let room = size;
    for (const [key, group] of this.#groups) {
      if (room === 0 || batch.length === maxGroups) break;
      const dedupKeys = group.dedupKeys.splice(0, room);
      if (group.dedupKeys.length === 0) this.#groups.delete(key);
      room -= dedupKeys.length;
      batch.push({ ...group, dedupKeys });
    }
    this.#waiting -= size - room;
    return batch;
  }

  #put(of: Omit<ViewGroup, "dedupKeys">, dedupKeys: string[]): void {
    const key = `${of.day}\n${of.tenantId}\n${of.resourceType}\n${of.resourceId}`;
    const group = this.#groups.get(key);
    if (!group) this.#groups.set(key, { ...of, dedupKeys });
    else for (const one of dedupKeys) group.dedupKeys.push(one);
    this.#waiting += dedupKeys.length;
  }

  #schedule(): void {
    if (this.#isStopped || this.#timer !== undefined) return;
    const ms = this.#isFailing ? pauseAfterFailureMs : pauseMs;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.flush().catch(() => {});
    }, ms);
  }
}
