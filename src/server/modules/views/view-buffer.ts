import type { Database } from "../../db/session.ts";
import { unavailable } from "../../errors.ts";
import { LruCache } from "../../values/lru-cache.ts";
import { type View, writeViews } from "./service.ts";

/** How long a stopping process tries to write its last views, in milliseconds. */
export const lastWritesMs = 5000;

/** A view is written after this time, so that it is in the database within a second. */
const pauseMs = 500;
const pauseAfterFailureMs = 1000;
const pauseAtStopMs = 250;
/** Maximum views in a transaction, for which other writers wait. */
const maxBatch = 2000;
/** About ten megabytes. */
const defaultMaxWaiting = 100_000;
const maxKnown = 50_000;

interface BufferDeps {
  db: Database;
  /** Called once each time writes start to fail. */
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
