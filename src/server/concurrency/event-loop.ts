import { addressGroup } from "../values/ip-prefix.ts";
import { Semaphore } from "./semaphore.ts";

const options = { permits: 1, fullMessage: "Too much work is waiting." };
const turns = new Semaphore(options);
/** Each turn of the event loop admits one health check, however many other requests wait. */
const checks = new Semaphore(options);
const healthParty = "/health/";
/** When a turn of the event loop has taken this many milliseconds, further requests wait for the next turn. */
const budgetMs = 10;
/** A long turn is followed by one empty turn per 2 ms of it: Bun completes only few TLS handshakes in a turn. */
const restMs = 2;
let endsAt: number | undefined;
const ends: (() => void)[] = [];
interface Caller {
  client?: { readonly ip: string | null } | undefined;
  signal?: AbortSignal;
}

/** Resolves once the event loop has handled the events that have already arrived. */
export const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const endTurn = () => void ends.splice(0).map((end) => end());

/**
 * Waits for a turn of the event loop that has time left. When `signal` aborts, the wait ends at once; the caller must
 * then stop. Throws unavailable when too many callers wait.
 */
export function yieldToEventLoop(party?: string, { client, signal }: Caller = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    const work = async () => {
      if (party === healthParty) await nextTurn();
      else while (!signal?.aborted && isOver()) await nextTurn();
      resolve();
      // The caller reads in this tick. If no other call waits, the snapshot then ends. So later calls get a new one.
      if (!signal?.aborted) await new Promise((next) => process.nextTick(next));
      if (turns.waiting === 0 || isOver()) endTurn();
    };
    const member = client?.ip ? addressGroup(client.ip) : "";
    (party === healthParty ? checks : turns).run(work, party, member).catch(reject);
  });
}

/** Names the queue in which a request waits: that of its store, of the store's searches, or of health checks. */
export function partyOf(url: string): string | undefined {
  if (/^(?:https?:\/\/[^/?#]*)?\/health\//.test(url)) return healthParty;
  const store = /[?&]namespace=([^&]*)/.exec(url)?.[1];
  return /[?&](?:q|facets|tag|category|option|include_total)\b/.test(url) ? `${store} search` : store;
}

export function isTickOverBudget(): boolean {
  return isOver() || !turns.isIdle || !checks.isIdle;
}

/** Calls `end` before the loop handles requests that arrive from now on. */
export function atTurnEnd(end: () => void): void {
  if (ends.push(end) === 1) setImmediate(endTurn);
}

function isOver(): boolean {
  const now = performance.now();
  if (endsAt !== undefined) return now > endsAt;
  endsAt = now + budgetMs;
  setImmediate(() => rest(isOver() ? (performance.now() - now) / restMs : 0));
  return false;
}

function rest(turns: number): void {
  if (turns >= 1) setImmediate(rest, turns - 1);
  else endsAt = undefined;
}
