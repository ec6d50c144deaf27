import type { Database } from "../../db/session.ts";
import { unavailable } from "../../errors.ts";
import type { Resource } from "../resources/registry.ts";
import { createCountReader } from "./kept-counts.ts";
import { KnownMarks } from "./known-marks.ts";
import { type NotedView, WaitingList } from "./waiting.ts";
import { writeViews } from "./write-views.ts";

/** How long a process that stops tries to write its last views, in milliseconds. */
export const lastWritesMs = 5000;

/** A view waits no longer, so that with the time of the write it is there within a second. */
const pauseMs = 500;
/** After the database could not answer. */
const restMs = 1000;
/**
 * What one transaction writes at most: other writers wait for it. Marks lie scattered over their table, so that many at
 * once cost each a fraction of what few do.
 */
const portion = 20_000;
const maxResources = 500;
/** Some ten megabytes. */
const maxWaiting = 100_000;
const maxKnown = 50_000;
const lastPauseMs = 250;

/** Gathers views and writes them down together. */
export interface ViewGatherer {
  /**
   * How many views of a resource are written down; undefined for what is not shown. Remembered for as long as nobody
   * commits. Errors: those of the database.
   */
  count(tenantId: string, resource: Resource): Promise<number | undefined> | number | undefined;
  /** Whether this process has noted the view already. */
  knows(view: NotedView): boolean;
  /**
   * Notes a view, which is written down within a second.
   * @throws unavailable when so much waits that nothing more can be remembered.
   */
  note(view: NotedView): void;
  /** Writes down what waits. Errors: those of the database; what was not written waits on. */
  flush(): Promise<void>;
  /** Writes down what waits and ends. */
  stop(): Promise<void>;
}

declare module "../../context.ts" {
  interface ProcessMemory {
    views: ViewGatherer;
  }
}

interface GathererDeps {
  db: Database;
  /** Told once each time that views begin not to be written down. */
  notice: (message: string) => void;
  /** How many views may wait. */
  maxWaiting?: number;
  /** How long `stop` tries, in milliseconds. */
  lastMs?: number;
}

/**
 * Makes the gatherer of one process: views wait in memory and are written down together. Any number of processes may do so
 * beside one another, for a view is added to the counts by who marks it.
 */
export function createViewGatherer(deps: GathererDeps): ViewGatherer {
  const { db, notice } = deps;
  const most = deps.maxWaiting ?? maxWaiting;
  const waiting = new WaitingList();
  const known = new KnownMarks(maxKnown);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let writing: Promise<void> | undefined;
  let size = portion;
  let isFailing = false;
  let isStopped = false;

  /** Writes what waits when it begins; the first failure ends it, so that a database that is away is not asked on. */
  async function write(): Promise<void> {
    let left = waiting.size;
    while (left > 0) {
      const taken = waiting.take(Math.min(size, left), maxResources);
      const count = taken.reduce((sum, { marks }) => sum + marks.length, 0);
      left -= count;
      try {
        // What is not shown any more may be shown again today, and then counts anew.
        for (const { marks } of await writeViews(db, taken)) for (const mark of marks) known.delete(mark);
      } catch (error) {
        waiting.putBack(taken);
        // If it is one of these that cannot be written, it is alone in the end.
        size = Math.max(1, Math.floor(count / 2));
        throw error;
      }
      size = Math.min(portion, size * 2);
    }
  }

  async function flush(): Promise<void> {
    // What came after the writing began is not in it.
    while (writing) await writing.catch(() => {});
    if (waiting.size === 0) return;
    clearTimeout(timer);
    timer = undefined;
    writing = write();
    try {
      await writing;
      isFailing = false;
    } catch (error) {
      if (!isFailing) notice("views cannot be written down; they wait, and are tried again each second");
      isFailing = true;
      throw error;
    } finally {
      writing = undefined;
      if (waiting.size > 0) wake();
    }
  }

  function wake(): void {
    if (isStopped || timer !== undefined) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        flush().catch(() => {});
      },
      isFailing ? restMs : pauseMs,
    );
  }

  return {
    count: createCountReader(db),
    knows: ({ mark }) => known.has(mark),
    note(view) {
      if (waiting.size >= most) throw unavailable("Too many views wait to be written down.");
      known.add(view.mark);
      waiting.add(view);
      if (writing === undefined) wake();
    },
    flush,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      const deadline = performance.now() + (deps.lastMs ?? lastWritesMs);
      while (waiting.size > 0 || writing) {
        try {
          await flush();
        } catch {
          if (performance.now() > deadline) {
            notice(`views that could not be written down and are lost: ${waiting.size}`);
            return;
          }
          await Bun.sleep(lastPauseMs);
        }
      }
    },
  };
}
