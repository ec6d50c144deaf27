import type { Head } from "./generation.ts";
import { generationName, type Link, segmentName } from "./names.ts";
import type { Place } from "./place.ts";
import { encodeSegment, type SegmentHeader } from "./segment.ts";
import type { Changes } from "./wal-frames.ts";

/** Writes the segments of one generation, each of which names the one before it. */
export class ChainWriter {
  readonly #place: Place;
  readonly #database: string;
  readonly #generation: number;
  #previous: { link: Link; hash: string | undefined };
  #last: SegmentHeader | undefined;

  /** @param head the last segment of the place. */
  constructor(
    place: Place,
    { database, generation }: { database: string; generation: number },
    head: Head | undefined,
  ) {
    this.#place = place;
    this.#database = database;
    this.#generation = generation;
    this.#previous = { link: head?.link ?? { generation, sequence: 0 }, hash: head?.hash };
    this.#last = head?.header;
  }

  get last(): Link {
    return this.#previous.link;
  }

  /** Whether the place still has the claim of this generation, and the last segment that was written here. */
  async isInPlace(): Promise<boolean> {
    const { link, hash } = this.#previous;
    const isClaimed = await this.#place.has(generationName(this.#generation));
    return isClaimed && (hash === undefined || (await this.#place.has(segmentName(link))));
  }

  /** Begins a part of the chain that only a new snapshot leads to; returns the link of that snapshot. */
  beginBase(): Link {
    // One number is left out, so that no segment seems to follow the last one.
    const link = { generation: this.#generation, sequence: this.last.sequence + 1 };
    this.#previous = { link, hash: undefined };
    return link;
  }

  /** Writes the next segment; returns its size. @param at everything that was committed until then is in it. */
  async append({ pages, pageCount, end }: Changes, at: Date): Promise<number> {
    const { link, hash } = this.#previous;
    const { at: before = "", setBacks = [] } = this.#last ?? {};
    const now = { sequence: link.sequence + 1, at: at.toISOString() };
    const header: SegmentHeader = {
      format: 1,
      database: this.#database,
      generation: this.#generation,
      ...now,
      previous: hash === undefined ? null : { ...link, hash },
      isBase: hash === undefined,
      setBacks: now.at < before ? [...setBacks.slice(-20), now] : setBacks,
      pageCount,
      end,
    };
    const segment = await encodeSegment(header, pages);
    await this.#place.put(segmentName(header), segment.bytes);
    this.#previous = { link: { generation: header.generation, sequence: header.sequence }, hash: segment.hash };
    this.#last = header;
    return segment.bytes.length;
  }
}
