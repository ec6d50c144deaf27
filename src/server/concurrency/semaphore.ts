import { type AppError, unavailable } from "../errors.ts";

interface Waiter {
  start: () => void;
  refuse: (error: AppError) => void;
  timer: Timer | undefined;
}

/** Gives permits to parties, such as stores, in turn; in a party, to members in turn; to a member's calls in order. */
export class Semaphore {
  readonly limits;
  waiting = 0;
  #held = 0;
  /** The waiting calls by party and member, in the order of their turns. No list is empty. */
  readonly #parties = new Map<string, Map<string, Waiter[]>>();

  constructor(limits: { permits: number; maxWaiting?: number; maxWaitMs?: number; fullMessage: string }) {
    this.limits = { maxWaiting: 10_000, ...limits };
  }

  get isIdle(): boolean {
    return this.#held === 0;
  }

  /** Throws unavailable when too many wait, or when this call has waited too long. */
  async run<T>(work: () => Promise<T>, party = "", member = ""): Promise<T> {
    if (this.#held < this.limits.permits) this.#held++;
    else await this.#wait(party, member);
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  #wait(party: string, member: string): Promise<void> {
    const members = this.#parties.get(party) ?? new Map<string, Waiter[]>();
    const queue = members.get(member) ?? [];
    if (this.waiting >= this.limits.maxWaiting && !this.#makeRoom(queue)) return Promise.reject(this.#fullError());
    const { promise, resolve: start, reject: refuse } = Promise.withResolvers<void>();
    const waiter: Waiter = { start, refuse, timer: undefined };
    const leave = () => {
      queue.splice(queue.indexOf(waiter), 1);
      if (queue.length === 0) members.delete(member);
      if (members.size === 0) this.#parties.delete(party);
      this.waiting--;
      refuse(this.#fullError());
    };
    const { maxWaitMs } = this.limits;
    if (maxWaitMs !== undefined) waiter.timer = setTimeout(leave, maxWaitMs);
    this.#parties.set(party, members.set(member, queue));
    queue.push(waiter);
    this.waiting++;
    return promise;
  }

  /** Passes the permit to the next member of the next party. That member and party then go to the end of the queues. */
  #release(): void {
    const [party = "", members = new Map<string, Waiter[]>()] = this.#parties.entries().next().value ?? [];
    const [member = "", queue = []] = members.entries().next().value ?? [];
    const next = queue.shift();
    if (next !== undefined) {
      members.delete(member);
      if (queue.length > 0) members.set(member, queue);
      this.#parties.delete(party);
      if (members.size > 0) this.#parties.set(party, members);
      this.waiting--;
      clearTimeout(next.timer);
      next.start();
      return;
    }
    this.#held--;
  }

  /** Refuses the newest call of the member with the most waiting calls. Returns false if the caller is that member. */
  #makeRoom(own: Waiter[]): boolean {
    let longest: Waiter[] = [];
    for (const members of this.#parties.values()) {
      for (const queue of members.values()) if (queue.length > longest.length) longest = queue;
    }
    if (longest.length <= own.length + 1) return false;
    const refused = longest.pop();
    this.waiting--;
    clearTimeout(refused?.timer);
    refused?.refuse(this.#fullError());
    return true;
  }

  #fullError(): AppError {
    return unavailable(this.limits.fullMessage, { retryAfter: 1 });
  }
}
