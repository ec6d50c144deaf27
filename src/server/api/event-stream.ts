import { tooManyRequests } from "../errors.ts";
import type { Call } from "../http/route.ts";
import type { StreamPart } from "../pagination/list-page.ts";
import type { RouteRequest } from "./answers.ts";

const maxStreams = 20;
/** Proxies and clients close a connection on which nothing arrives for 30 seconds, so a frame is sent more often. */
const heartbeatMs = 15_000;
const encoder = new TextEncoder();

/** Whether a request asks for a stream of server-sent events, and its route has one. */
export function asksForStream({ request, route }: Pick<RouteRequest, "request" | "route">): boolean {
  const accept = request.headers.get("accept");
  return route.stream !== undefined && request.method === "GET" && accept?.includes("text/event-stream") === true;
}

/**
 * Answers with server-sent events until the client leaves or `isOpen` returns false. `Last-Event-ID` replaces `after`.
 * @param streams the open streams by store.
 * @throws tooManyRequests if the store has too many streams; errors of the route before its first part.
 */
export async function answerStream(
  { streams }: { streams: Map<string, number> },
  { request, route }: RouteRequest,
  call: Call,
  { headers, isOpen }: { headers: Record<string, string>; isOpen: () => Promise<boolean> },
): Promise<Response> {
  const store = call.ctx.tenant.id;
  const count = (change: number) => streams.set(store, (streams.get(store) ?? 0) + change).get(store) as number;
  const after = request.headers.get("last-event-id") || undefined;
  const query = { ...call.query, ...(after && { after }) };
  const client = new AbortController();
  async function* frames() {
    try {
      if (count(1) > maxStreams) {
        throw tooManyRequests(`The store already has ${maxStreams} open streams, the maximum.`, { retryAfter: 30 });
      }
      const isWanted = async () => !client.signal.aborted && (await isOpen());
      yield* renderFrames(route.stream?.({ ...call, query } as never) ?? [], isWanted);
    } finally {
      if (count(-1) === 0) streams.delete(store);
    }
  }
  const open = frames();
  // The first part is read before the reply begins, so that an error before it is answered as JSON.
  const first = await open.next();
  // `return` ends the generator at its next `yield`, up to 15 seconds later. Aborting `client` ends it within a second.
  const leave = () => {
    client.abort();
    void open.return();
  };
  request.signal.addEventListener("abort", leave, { once: true });
  if (request.signal.aborted) leave();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(first.value ?? "")),
    async pull(controller) {
      // After an error, the stream ends. The client then connects again and gets the error as JSON.
      const { value } = await open.next().catch(() => ({ value: undefined }));
      if (value === undefined) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel: leave,
  });
  // Without the header `X-Accel-Buffering`, nginx would collect events before it sends them.
  return new Response(body, {
    headers: { ...headers, "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" },
  });
}

async function* renderFrames(
  parts: AsyncIterable<StreamPart> | [],
  isOpen: () => Promise<boolean>,
): AsyncGenerator<string, undefined> {
  let sentAt = Number.NEGATIVE_INFINITY;
  for await (const { records, after } of parts) {
    if (!(await isOpen())) return;
    if (records.length === 0 && performance.now() - sentAt < heartbeatMs) continue;
    sentAt = performance.now();
    const events = records.map((one) => `id: ${one.id}\ndata: ${JSON.stringify(one)}\n\n`);
    // A frame without data is no event. It keeps the connection open, and its id says where to continue.
    yield `${events.join("")}id: ${after}\n\n`;
  }
}
