import http from "node:http";
import { isIP } from "node:net";
import type { Config } from "../config/config.ts";
import { errnoOf, unavailable } from "../errors.ts";
import type { KeyPair } from "../tls/certificate.ts";

interface PortOptions {
  /** Whether several sockets share the port: one for each worker, or a new one for each certificate. */
  shared: boolean;
  certificate: KeyPair | null;
  fetch: (request: Request) => Response | Promise<Response>;
}

/** The timeout is longer than a body may take, so that a slow client gets a reply before Bun closes the connection. */
export const idleSeconds = 30;
/** The maximum of request line and headers. Cookies of a shared domain may need more than Bun's default of 16 KiB. */
const maxHeaderBytes = 32_768;
/** How long a stopping listener still answers, and asks clients to reconnect, before it drains. */
const handoverMs = 500;
/** In the last part of `handoverMs`, Linux defers new connections, while open connections send their requests. */
const deferMs = 250;
/** Suites of TLS 1.2 with forward secrecy and authenticated encryption. All of TLS 1.3 have both. */
const ciphers = ["ECDSA", "RSA"]
  .flatMap((auth) => ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"].map((c) => `ECDHE-${auth}-${c}`))
  .join(":");

/** Opens the port. Throws unavailable if it is in use or the host is not an address of this machine. */
export function openPort(config: Config, { shared, certificate, fetch }: PortOptions) {
  // Sets the maximum for the whole process, because Bun offers nothing else. The types declare a constant.
  Object.assign(http, { maxHeaderSize: maxHeaderBytes });
  const servers = new Set<ReturnType<typeof Bun.serve>>();
  let isStopping = false;
  let current = begin(config.port, certificate);
  const port = current.server.port ?? config.port;

  function begin(onPort: number, pair: KeyPair | null) {
    let isRetired = false;
    const server = bindPort(config, () =>
      Bun.serve({
        hostname: config.host,
        port: onPort,
        reusePort: shared,
        idleTimeout: idleSeconds,
        // Bun would answer a larger body itself, outside the envelope. Our limit is enforced while reading.
        maxRequestBodySize: Number.MAX_SAFE_INTEGER,
        development: false,
        ...(pair && { tls: { cert: pair.cert, key: pair.key, ciphers } }),
        fetch: (request) => (isRetired || isStopping ? closeAfter(fetch(request)) : fetch(request)),
      }),
    );
    servers.add(server);
    return {
      server,
      retire() {
        isRetired = true;
        setTimeout(() => void server.stop().then(() => servers.delete(server)), handoverMs);
      },
    };
  }

  return {
    url: addressOf({ ...config, port }),
    port,
    peerOf: (request: Request) => current.server.requestIP(request)?.address ?? null,
    /** Switches to another certificate. If this throws, the previous one stays in use. */
    present(pair: KeyPair) {
      const before = current;
      current = begin(port, pair);
      before.retire();
    },
    /** Asks clients to reconnect elsewhere, finishes running requests, and closes the rest after `graceMs`. */
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

/**
 * Checks that a port is free before several sockets share it. Picks a free one for port 0 and keeps it from other
 * programs until `release`. Throws as `openPort`.
 */
export async function holdPort(config: Config) {
  // Clients may already try to connect to a chosen port, so this socket closes at once.
  const isPicked = config.port === 0;
  const socket = bindPort(config, () =>
    Bun.serve({ hostname: config.host, port: config.port, reusePort: isPicked, fetch: () => new Response(null) }),
  );
  socket.unref();
  const release = () => socket.stop(true);
  if (!isPicked) await release();
  return { port: socket.port ?? config.port, release };
}

/** As `holdPort`, without keeping the port. */
export async function reservePort(config: Config): Promise<number> {
  const { port, release } = await holdPort(config);
  await release();
  return port;
}

/** `flag` names the option that chooses the port. Throws as `openPort`. */
export function bindPort<T>(config: Pick<Config, "host" | "port"> & { flag?: string }, bind: () => T): T {
  const { flag = "--port" } = config;
  try {
    return bind();
  } catch (cause) {
    const where = `${config.host}:${config.port}`;
    // For a name that cannot be resolved, Bun reports the code of an earlier error.
    const isAddress = isIP(config.host) !== 0 || config.host === "localhost";
    if (isAddress && errnoOf(cause) === "EADDRINUSE") {
      throw unavailable(`${where} is in use by another program. Choose another port with ${flag}.`, { cause });
    }
    if (isAddress && errnoOf(cause) === "EACCES") {
      throw unavailable(`This account may not listen on ${where}. Choose a ${flag} of 1024 or above.`, { cause });
    }
    const reason = "The port is in use, or the host is not an address of this machine.";
    throw unavailable(`Cannot listen on ${where}. ${reason} Check --host and ${flag}.`, { cause });
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
