import { createApp } from "../api/app.ts";
import { type Config, paymentOptions } from "../config/config.ts";
import type { Actor, Ctx } from "../context.ts";
import type { Database } from "../db/session.ts";
import { malformedRequest, wrongState } from "../errors.ts";
import type { Method } from "../http/route.ts";
import { openMediaBucket } from "../modules/media/service.ts";
import { WriteLimiter } from "../modules/rate-limits/public-writes.ts";
import { resolveUserId } from "../modules/users/list.ts";
import { getUser } from "../modules/users/service.ts";
import { ViewBuffer } from "../modules/views/view-buffer.ts";
import { Meter } from "../monitoring/metrics/meter.ts";

export interface LocalRequest {
  method: Method;
  /** A path of the API with its query, such as `/orders/?status=paid`. The store's `namespace` is added to it. */
  path: string;
  /** A JSON object, or a file with its content type. */
  body?: object | Blob | undefined;
  /** Id or email address of the user that makes the request. By default, the actor of the context makes it. */
  as?: string | undefined;
}

/** A reply. If the status is below 400, the envelope has `data`, and `page` for lists; otherwise it has `error`. */
interface LocalReply {
  status: number;
  envelope: { data?: unknown; page?: { next_cursor: string | null; has_more: boolean } };
}

/**
 * Opens the API of a store without a server. Requests pass the server's pipeline, but need no credentials: the actor of
 * the context may do what staff and app keys may do. Call `close` at the end, which writes views that wait in memory.
 */
export function openLocalApi(ctx: Ctx & { db: Database }, config: Config, version: string) {
  const { db, vault, now } = ctx;
  const notice = () => {};
  const memory = { views: new ViewBuffer({ db, notice }), writes: new WriteLimiter({ db, vault, now, notice }) };
  const actors = new WeakMap<Request, Actor>();
  const app = createApp({
    ...{ db, vault, now, memory, version },
    push: { allowPrivate: config.allowPrivatePush },
    media: openMediaBucket(config),
    publicUrl: config.publicUrl,
    payments: paymentOptions(config),
    log: () => {},
    logLevel: "error",
    meter: new Meter(),
    replyCacheBytes: 0,
    hasDocs: false,
    trustedProxies: [],
    isEncrypted: false,
    peerOf: () => null,
    isDraining: () => false,
    freeBytes: () => null,
    actorOf: (request) => actors.get(request),
  });

  /** Answers a request. Errors: malformedRequest for a path outside the API; notFound and wrongState for `as`. */
  async function call({ method, path, body, as }: LocalRequest): Promise<LocalReply> {
    const request = createRequest(ctx, { method, path, body });
    actors.set(request, as === undefined ? ctx.actor : await actAs(ctx, as));
    const response = await app.fetch(request);
    if (!response.headers.get("content-type")?.startsWith("application/json")) {
      throw malformedRequest(`${path} is not a path of the JSON API.`);
    }
    return { status: response.status, envelope: (await response.json()) as LocalReply["envelope"] };
  }

  return { call, close: () => Promise.all([memory.views.stop(), memory.writes.stop()]) };
}

function createRequest({ tenant }: Ctx, { method, path, body }: LocalRequest): Request {
  if (!/^\/(?!\/)/.test(path)) throw malformedRequest("The path must begin with one slash, as in /orders/.");
  const url = new URL(path, "http://localhost");
  url.searchParams.set("namespace", tenant.namespace);
  const isFile = body === undefined || body instanceof Blob;
  const content = isFile ? body : new Blob([JSON.stringify(body)], { type: "application/json" });
  const headers = content && { "Content-Type": content.type, "Content-Length": String(content.size) };
  return new Request(url.href, { method, ...(content && { body: content, headers }) });
}

async function actAs(ctx: Ctx, named: string): Promise<Actor> {
  const user = await getUser(ctx, await resolveUserId(ctx, named));
  if (user.status !== "active") throw wrongState(`User ${user.email} is disabled.`);
  return { kind: "user", userId: user.id, role: user.role };
}
