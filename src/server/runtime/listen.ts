import { createApp } from "../api/app.ts";
import { hasLongBody } from "../api/body.ts";
import { requestIdOf } from "../api/headers.ts";
import { isTickOverBudget, partyOf, yieldToEventLoop } from "../concurrency/event-loop.ts";
import type { Config } from "../config/config.ts";
import { paymentOptions } from "../config/config.ts";
import type { Database } from "../db/session.ts";
import { baseHeaders, errorResponse } from "../http/envelope.ts";
import type { LogWriter } from "../logging/logger.ts";
import { openMediaBucket } from "../modules/media/service.ts";
import { WriteLimiter } from "../modules/rate-limits/public-writes.ts";
import { ViewBuffer } from "../modules/views/view-buffer.ts";
import { freeDiskBytes } from "../monitoring/readiness.ts";
import type { Vault } from "../security/vault.ts";
import { MiB } from "../values/units.ts";
import type { Monitor } from "./monitor.ts";
import type { Port } from "./port.ts";

interface ListenOptions {
  vault: Vault;
  version: string;
  log: LogWriter;
  monitor: Monitor;
  port: Port;
}

export function listen(config: Config, db: Database, options: ListenOptions) {
  const { version, vault, log, monitor, port } = options;
  let isDraining = false;
  const notice = (message: string) => log.notice("warn", message);
  const memory = {
    views: new ViewBuffer({ db, notice }),
    writes: new WriteLimiter({ db, vault, now: Date.now, notice }),
  };
  const app = createApp({
    db,
    memory,
    push: { allowPrivate: config.allowPrivatePush },
    media: openMediaBucket(config),
    publicUrl: config.publicUrl,
    payments: paymentOptions(config),
    version,
    vault,
    now: Date.now,
    log: log.request,
    logLevel: config.logLevel,
    meter: monitor.meter,
    replyCacheBytes: config.replyCache * MiB,
    hasDocs: !config.noDocs,
    hasBackOffice: config.backOffice,
    metrics: config.metricsToken === undefined ? undefined : { token: config.metricsToken, text: monitor.metricsText },
    onSeen: (seen) => monitor.recentRequests.set(seen.request_id, seen),
    trustedProxies: config.trustedProxies,
    peerOf: (request) => port.peerOf(received.get(request) ?? request),
    isEncrypted: config.tls !== undefined,
    isDraining: () => isDraining,
    freeBytes: () => (db.kind === "server" ? null : freeDiskBytes(config.dataDir)),
  });
  const answer = (request: Request) => app.fetch(hasHost(request.url) ? request : withHost(request));
  const answerLater = async (request: Request) => {
    // Bun reports a disconnect only if `signal` was read before, so it is read before any wait.
    const { signal } = request;
    try {
      await yieldToEventLoop(partyOf(request.url), { client: { ip: app.clientIpOf(request) }, signal });
    } catch (error) {
      const requestId = requestIdOf(request.headers);
      return errorResponse(requestId, error, baseHeaders(requestId));
    }
    return signal.aborted ? new Response(null) : answer(request);
  };
  port.answer((request) =>
    isTickOverBudget() && !hasLongBody(request.headers) ? answerLater(request) : answer(request),
  );
  return {
    ...port,
    async stop(graceMs: number) {
      isDraining = true;
      await port.stop(graceMs);
      await Promise.all([memory.views.stop(), memory.writes.stop()]);
    },
  };
}

/** Maps a request with a completed URL to the request that Bun received. */
const received = new WeakMap<Request, Request>();

/** Whether Elysia finds the path in a URL. It needs a scheme and a host. With https, the host needs 3 characters. */
function hasHost(url: string): boolean {
  if (url.startsWith("http:")) return true;
  return !url.startsWith("/") && url.indexOf("/", "https://".length) >= "https://abc".length;
}

/** Adds a host to the URL. Without a usable `Host` header, as in HTTP/1.0, Bun sets the URL to the path. */
function withHost(request: Request): Request {
  const { url } = request;
  const path = url.startsWith("/") ? url : url.slice(url.indexOf("/", "https://".length));
  const completed = new Request(`http://localhost${path}`, request);
  received.set(completed, request);
  return completed;
}
