import type { Tenant } from "../context.ts";
import type { Resource } from "../modules/resources/registry.ts";

/** How long a process that stops tries to write down what it has gathered, in milliseconds. */
export const lastWritesMs = 5000;

/** A view of something by somebody who is named by a hash only, which is another for every resource and day. */
export interface NotedView {
  tenantId: string;
  resourceType: string;
  resourceId: string;
  /** UTC, `2026-03-01`. */
  day: string;
  mark: string;
}

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

/** Counts public writes of an address and of whom they are by, within this process first. */
export interface WriteLimiter {
  /**
   * Counts one.
   * @param address of the caller, null where it does not count.
   * @param actor id of the visitor or user, null where there is neither.
   * @returns a promise only after a pause or a start, when others have to be heard before it is judged.
   * @throws tooManyRequests with `retryAfter`, and nothing is counted.
   */
  count(tenant: Tenant, address: string | null, actor: string | null): Promise<void> | undefined;
  /** Tells other processes what was counted here, and hears what was there. Errors: those of the database. */
  share(): Promise<void>;
  stop(): Promise<void>;
}

/** Gathers the origins from which keys were used and refused, and writes them down together. */
export interface RejectionGatherer {
  /**
   * Notes one, which is written down within a second or two; some are left out when very many wait.
   * @param origin null where the request had none.
   * @param now epoch milliseconds.
   */
  note(appId: string, origin: string | null, now: number): void;
  /** Writes down what waits. Errors: those of the database; what was not written waits on. */
  flush(): Promise<void>;
  /** Writes down what waits, if it can, and ends. */
  stop(): Promise<void>;
}

/** What one process of a server keeps between requests. */
export interface ProcessMemory {
  views: ViewGatherer;
  writes: WriteLimiter;
  rejections: RejectionGatherer;
}
