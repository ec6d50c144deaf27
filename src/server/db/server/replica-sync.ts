/** What the replica's synchronisation rests on. */
export interface ReplicaSyncParts {
  /** Brings the copy up to the primary's present state, off the event loop. */
  sync: () => Promise<unknown>;
  /** Rejects when the primary cannot be reached; the engine's own attempt takes 3 s and writes to stdout. */
  ping: () => Promise<unknown>;
  /** Milliseconds between two looks for others' writes. */
  everyMs: number;
}

/**
 * Keeps a local copy up to date: after own writes, before they are answered, and on a timer for those of others. Many
 * writers that wait at once share one synchronisation.
 */
export class ReplicaSync {
  readonly #parts: ReplicaSyncParts;
  readonly #timer: Timer;
  #running: Promise<boolean> | undefined;
  #next: Promise<void> | undefined;
  #owed = false;
  #stopped = false;

  constructor(parts: ReplicaSyncParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.#lookForOthers(), parts.everyMs);
    this.#timer.unref();
  }

  /** True while an own write is answered but not in the copy, so that reads belong to the primary. */
  get isBehind(): boolean {
    return this.#owed;
  }

  /** Resolves when the copy holds what was written before the call. A failure shows only as `isBehind`. */
  afterWrite(): Promise<void> {
    if (this.#running === undefined) return this.#startAfterWrite();
    // The one that runs may have begun before the write; the next one serves all who come until then.
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.#startAfterWrite();
    });
    return this.#next;
  }

  /** Ends the timer and waits for what runs. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    while (this.#running !== undefined) await (this.#next ?? this.#running);
  }

  #lookForOthers(): void {
    if (this.#running !== undefined || this.#stopped) return;
    const look = async () => {
      await this.#parts.ping();
      if (this.#running !== undefined || this.#stopped) return;
      if (await this.#start()) return;
      // A primary that answers but does not synchronise has been set up anew; the copy is another database's.
      await this.#parts.ping();
      this.#owed = true;
    };
    look().catch(() => {});
  }

  #start(): Promise<boolean> {
    const run = this.#parts.sync().then(
      () => {
        this.#owed = false;
        return true;
      },
      () => false,
    );
    this.#running = run.finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #startAfterWrite(): Promise<void> {
    if (!(await this.#start())) this.#owed = true;
  }
}
