import { hostname } from "node:os";
import { AppError, unavailable } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";
import { claimGeneration, type Head, newerState, type PlaceState, readHead, readPlace } from "./generation.ts";
import type { Place } from "./place.ts";
import type { readReplicaState } from "./state.ts";
import type { WalTail } from "./wal-tail.ts";

/** How long a server that starts waits for a place. */
const checkMs = 5000;

export interface ContinuityOptions {
  database: string;
  dataDir: string;
  /** Whether to replace a state that this database does not continue, once. */
  takeOver?: boolean | undefined;
  /** The data directory's knowledge of the place when this process opened it. */
  known: ReturnType<typeof readReplicaState>;
  tail: WalTail;
}

/** Decides whether a database continues the newest state of a place, so that its server may take over. */
export class Continuity {
  readonly #place: Place;
  readonly #options: ContinuityOptions;
  /** Ends of segments that this database has, as text. */
  readonly #ends = new Set<string>();
  #isOver = false;

  constructor(place: Place, options: ContinuityOptions) {
    this.#place = place;
    this.#options = options;
    const { known } = options;
    if (known?.isUnchanged && known.end) this.#ends.add(JSON.stringify(known.end));
  }

  /**
   * Asks the place before the server answers requests; one that does not answer in time is asked later.
   * @throws conflict as `takeOver`.
   */
  async check(generation: number, notice: LogWriter["notice"]): Promise<void> {
    const late = unavailable(`${this.#place.address} did not answer for ${checkMs / 1000} s.`);
    const answer = this.#require(generation).catch((error: unknown) => error);
    const failure = await Promise.race([answer, Bun.sleep(checkMs).then(() => late)]);
    if (!(failure instanceof AppError)) return;
    if (failure.kind === "conflict") throw failure;
    notice("warn", `the server starts without knowing whether another one took over the replica: ${failure.message}`);
  }

  /** @param generation the last one that this server had there; 0 for none. */
  async #require(generation: number): Promise<PlaceState> {
    const { database, dataDir, takeOver, known } = this.#options;
    const found = await readPlace(this.#place, database);
    const { claim, head, newest } = found;
    if (claim === undefined || found.generation <= generation || (takeOver && !this.#isOver)) return found;
    const isOwn = claim.host === hostname() && claim.data_dir === dataDir && (known?.generation ?? 0) > 0;
    const isRestored = known?.isSameFile && known.restored === newest;
    // One that was replaced stays out, even if nothing was written since.
    if (isOwn || (generation === 0 && (isRestored || this.#has(head)))) return found;
    throw await newerState(this.#place, found, generation);
  }

  /** Whether the file and the WAL that were opened have all of the last segment. */
  #has(head: Head | undefined): boolean {
    const end = head?.header?.end;
    if (end === undefined) return false;
    const { known, tail } = this.#options;
    if (known?.isUnchanged && !this.#isOver && tail.resume(end)) this.#ends.add(JSON.stringify(end));
    return this.#ends.has(JSON.stringify(end));
  }

  /**
   * Takes the next generation of the place.
   * @returns its last segment, whether this database goes on with it, and when that was.
   * @throws conflict when it has a newer state, unless this directory of this machine wrote it or it may be replaced.
   */
  async takeOver(last: number) {
    const { database, dataDir } = this.#options;
    for (;;) {
      const found = await this.#require(last);
      const generation = Math.max(found.generation, last) + 1;
      if (!(await claimGeneration(this.#place, { database, dataDir, generation }))) continue;
      const at = new Date().toISOString();
      // Its last server may have written meanwhile.
      const head = await readHead(this.#place);
      const goesOn = this.#has(head);
      // Only what the database had when it was opened was compared.
      this.#ends.clear();
      this.#isOver = true;
      return { generation, head, goesOn, at };
    }
  }
}
