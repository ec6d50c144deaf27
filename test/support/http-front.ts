/** The ways in which the program connects to a libSQL server. It uses HTTP if the server refuses WebSockets. */
export type Way = "websocket" | "http";

/** A proxy in front of a libSQL server. Like hosted servers, it refuses WebSockets. */
export interface HttpFront {
  url: string;
  stop: () => void;
}

/** Starts a proxy that sends each request on over a new connection. */
export function startHttpFront(to: string): HttpFront {
  const front = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      if (request.headers.has("upgrade")) return new Response("no WebSockets", { status: 426 });
      const { method, headers } = request;
      const body = method === "GET" ? null : await request.arrayBuffer();
      const passed = fetch(to + new URL(request.url).pathname, { method, headers, body, keepalive: false });
      return passed.catch(() => new Response(null, { status: 502 }));
    },
  });
  return { url: `http://127.0.0.1:${front.port}`, stop: () => void front.stop(true) };
}
