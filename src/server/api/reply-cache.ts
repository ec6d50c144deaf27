import { LruCache } from "../values/lru-cache.ts";
import type { KeptTail } from "./kept-tail.ts";

/** A reply to a read of the catalogue, without request id and origin, which differ each time. */
export interface KeptReply {
  tail: KeptTail;
  language: string | undefined;
  /** The state and version of the reply, as in `State`. */
  state: string;
  version: number | undefined;
  /** The last minute in which the reply was known to be current, and its entity tag in that minute. */
  minute: number;
  etag: string;
  /** The commit counter, read before the rows, or before a later check that found the same state. */
  commits: number | null;
  /** Whether nobody has committed since the rows were read. A commit may have changed the counts of likes and views. */
  hasLatestCounts: boolean;
}

interface Share {
  replies: Map<string, KeptReply>;
  bytes: number;
}

/** The memory that an entry takes in addition to its texts. */
const overheadBytes = 1024;

/** The bytes of an entry, with the compressed forms that are made later and take about half as much as the tail. */
function bytesOf(name: string, { tail, state }: KeptReply): number {
  return overheadBytes + name.length + state.length + 1.5 * tail.length;
}

/**
 * Keeps replies in memory, up to a number of bytes. Above this number, the store with the most bytes loses its least
 * recently used reply, so that no store displaces the replies of others.
 */
export class ReplyCache {
  readonly #maxBytes: number;
  readonly #shares = new Map<string, Share>();
  /** Hashes of requested names. Most searches are never repeated, so the reply to a first request is not kept. */
  readonly #asked = new LruCache<true>(10_000);
  #bytes = 0;

  /** With 0 bytes, the cache keeps nothing. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  find(tenantId: string, name: string): KeptReply | undefined {
    const replies = this.#shares.get(tenantId)?.replies;
    const kept = replies?.get(name);
    if (replies === undefined || kept === undefined) return undefined;
    replies.delete(name);
    replies.set(name, kept);
    return kept;
  }

  /** Whether to keep the reply of this name: no at its first request, yes at later ones. */
  wants(name: string): boolean {
    if (this.#maxBytes === 0) return false;
    const hash = Bun.hash(name).toString(36);
    const isKnown = this.#asked.get(hash) === true;
    if (!isKnown) this.#asked.set(hash, true);
    return isKnown;
  }

  keep(tenantId: string, name: string, reply: KeptReply): void {
    this.drop(tenantId, name);
    const share = this.#shares.get(tenantId) ?? { replies: new Map(), bytes: 0 };
    this.#shares.set(tenantId, share);
    share.replies.set(name, reply);
    this.#count(share, bytesOf(name, reply));
    while (this.#bytes > this.#maxBytes) this.#dropOldest();
  }

  drop(tenantId: string, name: string): void {
    const share = this.#shares.get(tenantId);
    const kept = share?.replies.get(name);
    if (share === undefined || kept === undefined) return;
    share.replies.delete(name);
    this.#count(share, -bytesOf(name, kept));
    if (share.replies.size === 0) this.#shares.delete(tenantId);
  }

  #count(share: Share, bytes: number): void {
    share.bytes += bytes;
    this.#bytes += bytes;
  }

  #dropOldest(): void {
    const [tenantId, { replies }] = [...this.#shares].reduce((a, b) => (b[1].bytes > a[1].bytes ? b : a));
    const [oldest] = replies.keys();
    this.drop(tenantId, oldest as string);
  }
}
