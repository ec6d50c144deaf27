import { BodegaError } from "./error.ts";
import type { Envelope } from "./exchange.ts";
import type { Item, Query, SendOptions } from "./operations.ts";

type EventQuery = Pick<Query<"GET /events/">, "after" | "since" | "types">;

/**
 * Yields the events of a store as they happen: after the event `after`, from the time `since`, or from now on. Needs an
 * app key with `events:read`. After a lost connection, connects again and continues after the last event. Ends when the
 * caller leaves the loop. Errors: {@link BodegaError}, also when the key is revoked; the signal's reason if aborted.
 */
export type FollowEvents = (
  query?: EventQuery,
  options?: Pick<SendOptions, "signal">,
) => AsyncGenerator<Item<"GET /events/">, void>;

type SendFeed = (
  operation: "GET /events/",
  options: SendOptions & { query: EventQuery; as: "key" },
) => Promise<Envelope>;

/** The server sends something every 15 seconds, so after this time without data the connection counts as lost. */
const silenceMs = 40_000;
const longestDelayMs = 30_000;

/** Returns the function that follows the events of a store. `send` sends requests to the store. */
export function createFollower(send: SendFeed): FollowEvents {
  return async function* follow(query = {}, { signal } = {}) {
    let place = query;
    let delayMs = 0;
    let isKnown = false;
    const move = (after: string) => {
      place = { types: query.types, after };
      delayMs = 0;
      isKnown = true;
    };
    for (;;) {
      try {
        yield* readStream(send, place, { signal, move });
      } catch (error) {
        signal?.throwIfAborted();
        if (!isKnown || (error instanceof BodegaError && error.code !== "network")) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      delayMs = Math.min(2 * delayMs + 1000, longestDelayMs);
    }
  };
}

interface Reading {
  signal: AbortSignal | undefined;
  /** Called after each frame, with the id after which a new connection continues. */
  move: (after: string) => void;
}

/** Yields the events of one connection. */
async function* readStream(send: SendFeed, query: EventQuery, { signal, move }: Reading) {
  const connection = new AbortController();
  const either = signal ? AbortSignal.any([signal, connection.signal]) : connection.signal;
  let timer = setTimeout(() => connection.abort(), silenceMs);
  try {
    const headers = { Accept: "text/event-stream" };
    const { data } = await send("GET /events/", { query, signal: either, headers, as: "key" });
    for await (const frame of readFrames(data as ReadableStream<Uint8Array>)) {
      clearTimeout(timer);
      timer = setTimeout(() => connection.abort(), silenceMs);
      move(/^id: (.+)$/m.exec(frame)?.[1] as string);
      const [, json] = /^data: (.+)$/m.exec(frame) ?? [];
      if (json) yield JSON.parse(json);
    }
  } finally {
    clearTimeout(timer);
    connection.abort();
  }
}

/** Yields the frames of server-sent events. */
async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  // Not all browsers can iterate over a stream with `for await`, so a reader is used.
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const frames = (text + decoder.decode(part.value, { stream: true })).split("\n\n");
    text = frames.pop() as string;
    yield* frames;
  }
}
