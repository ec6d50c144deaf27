import { createApp } from "../api/app.ts";
import type { Config } from "../config/config.ts";
import { pushOptions } from "../config/push-config.ts";
import type { Database } from "../db/session.ts";
import type { LogWriter } from "../logging/logger.ts";
import { createRejectionBuffer } from "../modules/app-keys/rejections.ts";
import { createWriteLimiter } from "../modules/rate-limits/public-writes.ts";
import { createViewGatherer } from "../modules/views/gatherer.ts";
import { freeDiskBytes } from "../monitoring/readiness.ts";
import type { Vault } from "../security/vault.ts";
import type { KeyPair } from "../tls/certificate.ts";
import type { Watched } from "./monitor.ts";
import { type OpenPort, openPort } from "./port.ts";

/** A server that takes requests. */
export interface Listener {
  /** The address that answers, such as `http://127.0.0.1:8080`. */
  url: string;
  port: number;
  present: OpenPort["present"];
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
  /** What is counted, and what `/metrics` tells of it. */
  watched: Watched;
  /** Whether other processes listen on the same port on purpose. */
  shared: boolean;
  /** Null serves without encryption. */
  certificate: KeyPair | null;
}

/**
 * Starts listening.
 * @throws unavailable when the port is in use or the host is not this machine's.
 */
export function listen(config: Config, db: Database, options: ListenOptions): Listener {
  const { version, vault, log, watched, shared, certificate } = options;
  let isDraining = false;
  // The application needs the socket's peer, which only the server knows, which needs the application.
  let peerOf = (_request: Request): string | null => null;
  const notice = (message: string) => log.notice("warn", message);
  const memory = {
    views: createViewGatherer({ db, notice }),
    writes: createWriteLimiter({ db, vault, now: Date.now, notice }),
    rejections: createRejectionBuffer(db),
  };
  const app = createApp({
    db,
    memory,
    push: pushOptions(config),
    version,
    vault,
    now: Date.now,
    log: log.request,
    logLevel: config.logLevel,
    meter: watched.meter,
    metrics: config.metricsToken === undefined ? undefined : { token: config.metricsToken, text: watched.metricsText },
    onSeen: (seen) => watched.recentRequests.record(seen),
    trustedProxies: config.trustedProxies,
    peerOf: (request) => peerOf(request),
    isEncrypted: certificate !== null,
    isDraining: () => isDraining,
    freeBytes: () => (db.kind === "server" ? null : freeDiskBytes(config.dataDir)),
  });
  const open = openPort(config, {
    shared,
    certificate,
    fetch: (request) => app.fetch(hasHost(request.url) ? request : withHost(request)),
  });
  peerOf = (request) => open.peerOf(received.get(request) ?? request);
  return {
    url: open.url,
    port: open.port,
    present: open.present,
    async stop(graceMs) {
      isDraining = true;
      await open.stop(graceMs);
      await Promise.all([memory.views.stop(), memory.writes.stop(), memory.rejections.stop()]);
    },
  };
}

/** Which request of the socket one with a completed address was made from. */
const received = new WeakMap<Request, Request>();

/** Routes are found behind a scheme and a host; where the scheme is https, behind three characters of it at least. */
function hasHost(url: string): boolean {
  return (
    !url.startsWith("/") && (url.startsWith("http:") || url.indexOf("/", "https://".length) >= "https://abc".length)
  );
}

/**
 * Without a usable `Host`, as health checks in HTTP/1.0 come, Bun gives the bare path for an address, in which no route
 * is found. Nothing here depends on the host, so any will do.
 */
function withHost(request: Request): Request {
  const { url } = request;
  const path = url.startsWith("/") ? url : url.slice(url.indexOf("/", "https://".length));
  const completed = new Request(`http://localhost${path}`, request);
  received.set(completed, request);
  return completed;
}
