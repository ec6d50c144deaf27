import { createApp } from "./app.ts";
import type { Config } from "./config.ts";
import type { Database } from "./db/session.ts";
import { AppError } from "./errors.ts";
import type { LogWriter } from "./log-writer.ts";
import { createRejectionGatherer } from "./modules/app-keys/rejections.ts";
import { createWriteLimiter } from "./modules/rate-limits/public-writes.ts";
import { createViewGatherer } from "./modules/views/gatherer.ts";
import { pushSettings } from "./push-settings.ts";
import type { Vault } from "./vault.ts";

/** A server that takes requests. */
export interface Listener {
  /** The address that answers, such as `http://127.0.0.1:8080`. */
  url: string;
  port: number;
  /**
   * Takes no new connections, lets what has begun finish, cuts what is left after `graceMs`, and writes down what was
   * gathered.
   */
  stop(graceMs: number): Promise<void>;
}

interface ListenOptions {
  vault: Vault;
  version: string;
  log: LogWriter;
  /** Whether other processes listen on the same port on purpose. */
  shared: boolean;
}

/** Longer than the time a body may take, so that a slow one is answered before Bun would cut the connection. */
const idleSeconds = 30;

/**
 * Starts listening.
 * @throws AppError 5001 when the port is in use or the host is not this machine's.
 */
export function listen(config: Config, db: Database, { version, vault, log, shared }: ListenOptions): Listener {
  let isDraining = false;
  // The application needs the socket's peer, which only the server knows, which needs the application.
  let peerOf = (_request: Request): string | null => null;
  const notice = (message: string) => log.notice("warn", message);
  const memory = {
    views: createViewGatherer({ db, notice }),
    writes: createWriteLimiter({ db, vault, now: Date.now, notice }),
    rejections: createRejectionGatherer(db),
  };
  const app = createApp({
    db,
    memory,
    push: pushSettings(config),
    version,
    vault,
    now: Date.now,
    log: log.request,
    trustedProxies: config.trustedProxies,
    peerOf: (request) => peerOf(request),
    isDraining: () => isDraining,
  });
  const server = bindPort(config, () =>
    Bun.serve({
      hostname: config.host,
      port: config.port,
      reusePort: shared,
      idleTimeout: idleSeconds,
      // Bun would answer a larger body itself, outside the envelope; the limit that counts is enforced while reading.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      fetch: (request) => app.fetch(request.url.startsWith("/") ? withHost(request) : request),
    }),
  );
  peerOf = (request) => server.requestIP(received.get(request) ?? request)?.address ?? null;
  return {
    url: addressOf(config.host, server.port ?? config.port),
    port: server.port ?? config.port,
    async stop(graceMs) {
      isDraining = true;
      const deadline = performance.now() + graceMs;
      const stopped = server.stop();
      while (server.pendingRequests > 0 && performance.now() < deadline) {
        await Promise.race([stopped, Bun.sleep(10)]);
      }
      await server.stop(true);
      await Promise.all([memory.views.stop(), memory.writes.stop(), memory.rejections.stop()]);
    },
  };
}

/** Which request of the socket one with a completed address was made from. */
const received = new WeakMap<Request, Request>();

/**
 * Without a usable `Host`, as health checks in HTTP/1.0 come, Bun gives the bare path for an address, in which no route
 * is found. Nothing here depends on the host, so any will do.
 */
function withHost(request: Request): Request {
  const completed = new Request(`http://localhost${request.url}`, request);
  received.set(completed, request);
  return completed;
}

/**
 * Makes sure that a port is free before several processes share it, and finds one for port 0.
 * @throws AppError 5001 as `listen`.
 */
export async function reservePort(config: Config): Promise<number> {
  const probe = bindPort(config, () =>
    Bun.serve({ hostname: config.host, port: config.port, reusePort: false, fetch: () => new Response(null) }),
  );
  const port = probe.port ?? config.port;
  await probe.stop(true);
  return port;
}

function bindPort<T>(config: Config, bind: () => T): T {
  try {
    return bind();
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    const where = `${config.host}:${config.port}`;
    if (code === "EADDRINUSE") {
      throw new AppError(5001, `${where} is in use by another program. Choose another port with --port.`, { cause });
    }
    if (code === "EACCES") throw new AppError(5001, `${where} may not be used by this account.`, { cause });
    throw new AppError(5001, `Cannot listen on ${where}. Check --host and --port.`, { cause });
  }
}

/** The address under which this machine reaches a server that listens on `host`. */
export function addressOf(host: string, port: number): string {
  const name = host === "0.0.0.0" || host === "::" ? "localhost" : host.includes(":") ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
