import { addressGroup } from "../values/ip-prefix.ts";
import { Semaphore } from "./semaphore.ts";

const options = { permits: 1, fullMessage: "Too much work is waiting." };
const turns = new Semaphore(options);
/** Each turn of the event loop admits one health check, however many others wait. */
const checks = new Semaphore(options);
const healthParty = "/health/";
/** Further requests wait once a turn of the event loop has taken this many milliseconds. */
const budgetMs = 10;
/** After a longer turn, the loop turns without work once for each of these: Bun completes few TLS handshakes a turn. */
const restMs = 2;
let endsAt: number | undefined;
const ends: (() => void)[] = [];
interface Caller {
  client?: { readonly ip: string | null } | undefined;
  signal?: AbortSignal;
}

/** The next turn comes after what has arrived. */
export const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const endTurn = () => void ends.splice(0).map((end) => end());

/**
 * Resolves in a turn of the event loop that has time left. A caller whose `signal` is aborted resolves without a turn,
 * and has nothing to do. Throws unavailable when too many wait.
 */
export function yieldToEventLoop(party?: string, { client, signal }: Caller = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    const work = async () => {
      if (party === healthParty) await nextTurn();
      else while (!signal?.aborted && isOver()) await nextTurn();
      resolve();
      // The caller works until then; requests that arrived meanwhile can depend on later commits than it has read.
      if (!signal?.aborted) await new Promise((next) => process.nextTick(next));
      if (turns.waiting === 0 || isOver()) endTurn();
    };
    const member = client?.ip ? addressGroup(client.ip) : "";
    (party === healthParty ? checks : turns).run(work, party, member).catch(reject);
  });
}

/** The store that the URL names, apart for its searches, or the health checks. Only to be fair. */
export function partyOf(url: string): string | undefined {
  if (/^(?:https?:\/\/[^/?#]*)?\/health\//.test(url)) return healthParty;
  const store = /[?&]namespace=([^&]*)/.exec(url)?.[1];
  return /[?&](?:q|facets|tag|category|option|include_total)\b/.test(url) ? `${store} search` : store;
}

export function isTickOverBudget(): boolean {
  return isOver() || !turns.isIdle || !checks.isIdle;
}

/** Calls `end` before requests are worked on that arrive after now. */
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
