import http from "node:http";
import { isIP } from "node:net";
import { requestIdOf } from "../api/headers.ts";
import type { Config } from "../config/config.ts";
import { errnoOf, unavailable } from "../errors.ts";
import { baseHeaders, errorResponse } from "../http/envelope.ts";
import type { KeyPair } from "../tls/certificate.ts";

type Answer = (request: Request) => Response | Promise<Response>;
export type Port = ReturnType<typeof openPort>;

/** How long a connection may be idle. The limit for bodies is shorter, so that slow clients get a reply. */
export const idleSeconds = 30;
/** The maximum size of request line and headers. Cookies of a shared domain may need more than Bun's 16 KiB. */
const maxHeaderBytes = 32_768;
/** How long a port that stops still accepts requests, and answers them with `Connection: close`. */
const handoverMs = 500;
/** In this last part of `handoverMs`, Linux drops new connections, but open connections can still send requests. */
const deferMs = 250;
/** Suites of TLS 1.2 with forward secrecy and authenticated encryption. All suites of TLS 1.3 have both. */
const ciphers = ["ECDSA", "RSA"]
  .flatMap((auth) => ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"].map((c) => `ECDHE-${auth}-${c}`))
  .join(":");

/**
 * Opens the port. Other sockets can share it: those of workers, of a new certificate and of the next server. Requests
 * wait until `answer` is called.
 * @throws unavailable if the host is not an address of this machine, or another program does not share the port.
 */
export function openPort(config: Config, certificate: KeyPair | null) {
  // Bun has one maximum for the whole process. Its type is constant, so a plain assignment does not compile.
  Object.assign(http, { maxHeaderSize: maxHeaderBytes });
  const servers = new Set<Bun.Server<undefined>>();
  const answering = Promise.withResolvers<Answer>();
  let fetch: Answer = async (request) => {
    // Bun reports a disconnect only if `signal` was read before, so it is read before any wait.
    const { signal } = request;
    const answer = await Promise.race([answering.promise, Bun.sleep(10_000)]);
    if (signal.aborted) return new Response(null);
    if (answer) return answer(request);
    const requestId = requestIdOf(request.headers);
    return errorResponse(requestId, unavailable("The server is starting."), baseHeaders(requestId));
  };
  let isStopping = false;
  let current = begin(config.port, certificate);
  const port = current.port ?? config.port;

  function begin(onPort: number, pair: KeyPair | null): Bun.Server<undefined> {
    const server = bindPort(config, () =>
      Bun.serve({
        hostname: config.host,
        port: onPort,
        reusePort: true,
        idleTimeout: idleSeconds,
        // Bun would answer a larger body itself, outside the envelope. Our limit is enforced while reading.
        maxRequestBodySize: Number.MAX_SAFE_INTEGER,
        development: false,
        ...(pair && { tls: { cert: pair.cert, key: pair.key, ciphers } }),
        fetch: (request, own) => (own !== current || isStopping ? closeAfter(fetch(request)) : fetch(request)),
      }),
    );
    servers.add(server);
    return server;
  }

  return {
    url: addressOf({ ...config, port }),
    port,
    answer(answer: Answer) {
      fetch = answer;
      answering.resolve(answer);
    },
    peerOf: (request: Request) => current.requestIP(request)?.address ?? null,
    /** Switches to another certificate. If this throws, the previous one stays in use. */
    present(pair: KeyPair) {
      const before = current;
      current = begin(port, pair);
      setTimeout(() => void before.stop().then(() => servers.delete(before)), handoverMs);
    },
    /** Asks clients to reconnect, finishes running requests, and cuts those that take longer than `graceMs`. */
    async stop(graceMs: number) {
      isStopping = true;
      await Bun.sleep(Math.min(handoverMs - deferMs, graceMs));
      // The module is imported only here, because it opens the C library.
      if (graceMs > 0) (await import("./defer-connections.ts")).deferConnections(port);
      await Bun.sleep(Math.min(deferMs, graceMs));
      // `graceMs` begins here, so that a request whose body does not arrive is answered before the port closes.
      const deadline = performance.now() + graceMs;
      const open = [...servers];
      const stopped = Promise.all(open.map((server) => server.stop()));
      const isBusy = () => open.some((server) => server.pendingRequests > 0);
      while (isBusy() && performance.now() < deadline) await Promise.race([stopped, Bun.sleep(10)]);
      await Promise.all(open.map((server) => server.stop(true)));
    },
  };
}

async function closeAfter(answer: Response | Promise<Response>): Promise<Response> {
  const response = await answer;
  response.headers.set("Connection", "close");
  return response;
}

/** Returns the port, or a free one for port 0, after a check that no program uses it. Throws as `openPort`. */
export async function reservePort(place: PortPlace): Promise<number> {
  const options = { hostname: place.host, port: place.port, reusePort: false, fetch: () => new Response(null) };
  const socket = bindPort(place, () => Bun.serve(options));
  const { port = place.port } = socket;
  await socket.stop(true);
  return port;
}

/** `flag` is the option for the port. `wayOut` says what to do if another program uses the port. */
type PortPlace = Pick<Config, "host" | "port"> & { flag?: string; wayOut?: string };

/** Calls `bind`, and explains its errors. Throws as `openPort`. */
export function bindPort<T>(config: PortPlace, bind: () => T): T {
  const { flag = "--port", wayOut = `Choose another port with ${flag}.` } = config;
  try {
    return bind();
  } catch (cause) {
    const where = `${config.host}:${config.port}`;
    // If a name cannot be resolved, Bun reports the code of an earlier error. So codes are only used for addresses.
    const isAddress = isIP(config.host) !== 0 || config.host === "localhost";
    const reasons: Record<string, string> = {
      EADDRINUSE: `${where} is in use by another program. ${wayOut}`,
      EACCES: `This account may not listen on ${where}. Choose a ${flag} of 1024 or above.`,
    };
    const other = `The port is in use, or the host is not an address of this machine. Check --host and ${flag}.`;
    throw unavailable((isAddress && reasons[errnoOf(cause)]) || `Cannot listen on ${where}. ${other}`, { cause });
  }
}

export function othersOf({ host }: Pick<Config, "host">): string {
  return host === "0.0.0.0" || host === "::" ? " and all other addresses of this machine" : "";
}

/** Returns the URL at which this machine reaches the server. */
export function addressOf({ host, port, tls }: Pick<Config, "host" | "port" | "tls">): string {
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `${tls === undefined ? "http" : "https"}://${name.includes(":") ? `[${name}]` : name}:${port}`;
}
