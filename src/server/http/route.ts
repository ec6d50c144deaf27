import { type Static, type TObject, type TSchema, Type } from "@sinclair/typebox";
import type { Ctx } from "../context.ts";
import type { ErrorKind } from "../errors.ts";
import type { Page, StreamPart } from "../pagination/list-page.ts";
import type { Scope } from "../security/scopes.ts";

export type Access =
  | { kind: "app"; scope?: Scope }
  | { kind: "token"; role?: "staff"; own?: true }
  | { kind: "public"; noAuth?: true };

export function app(scope: Scope): Access {
  return { kind: "app", scope };
}

export const anyKey: Access = { kind: "app" };
export const token: Access = { kind: "token" };
export const staff: Access = { kind: "token", role: "staff" };

/**
 * Access to refresh and logout, which change the caller's own token (specification, section 4, rule 6). The token may
 * be in the body. It is verified before other credentials, and an invalid one gets userTokenInvalid.
 */
export const ownToken: Access = { kind: "token", own: true };

/** Access without credentials. Credentials that are sent must be valid. */
export const publicAccess: Access = { kind: "public" };

/** Access that ignores credentials (specification, section 4, rule 2): an old token must not prevent a new login. */
export const noAuth: Access = { kind: "public", noAuth: true };

// These functions are created once, because each request calls them several times.
const isOwnToken = (method: Access) => method.kind === "token" && method.own === true;
const isPublic = (method: Access) => method.kind === "public";
const isNoAuth = (method: Access) => method.kind === "public" && method.noAuth === true;

export const asksOwnToken = (access: readonly Access[]): boolean => access.some(isOwnToken);
export const allowsAnonymous = (access: readonly Access[]): boolean => access.some(isPublic);
export const ignoresCredentials = (access: readonly Access[]): boolean => access.some(isNoAuth);

/** `state` is a short text that changes whenever the reply does. Only replies with a single record have a version. */
export interface State {
  state: string;
  version?: number | undefined;
}

/** `json` is the JSON text of `data`, often written by SQLite. */
export interface Reply {
  json: string;
  status?: number;
  page?: Page;
  version?: number;
  /** The state of the reply, read before the rows or together with them, so that it is never newer than the reply. */
  state?: string | undefined;
  language?: string;
  /** Whether this is the stored reply to an earlier request with the same `Idempotency-Key`. */
  isReplay?: boolean;
  /** A file, sent instead of the envelope. The file at a URL never changes. */
  file?: { bytes: Uint8Array; type: string };
}

export function reply(data: unknown, rest: Omit<Reply, "json"> = {}): Reply {
  return { json: JSON.stringify(data), ...rest };
}

export function replyFile(bytes: Uint8Array, type: string): Reply {
  return { json: "null", file: { bytes, type } };
}

export function replyRecord(record: { version: number }): Reply {
  return reply(record, { version: record.version });
}

export async function replyAfter(work: Promise<unknown>, data: object): Promise<Reply> {
  await work;
  return reply(data);
}

export function replyDeleted(id: string, removal: Promise<unknown>): Promise<Reply> {
  return replyAfter(removal, { id, deleted: true });
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Call<P = Record<string, unknown>, Q = Record<string, unknown>, B = unknown> {
  ctx: Ctx;
  params: P;
  query: Q;
  body: B;
  lang: string | undefined;
  /** The user whom an app key, or the terminal, names by `user_id`. */
  subject: string | undefined;
  /** The version required by `If-Match`; null for any. */
  ifMatch: number | null;
}

interface RouteOptions<P extends TObject, Q extends TObject, B extends TSchema, W> {
  tag: string;
  summary: string;
  access: readonly [Access, ...Access[]];
  params?: P;
  query?: Q;
  body?: B;
  /**
   * `existing` describes the 200 reply of a route that usually replies 201. `single` lists the schemas of `data`
   * for calls that name their records; such replies have no `page`. `type` is the content type of a file.
   */
  reply: { status?: 200 | 201; data: TSchema; page?: boolean; existing?: string; single?: TSchema[]; type?: string };
  /** The body is a file, or a form with one file; the handler gets a Uint8Array. */
  upload?: Upload;
  /** Further errors, besides those that follow from access, input and path. */
  errors?: readonly ErrorKind[];
  conditional?: boolean;
  /** The body field `token` is not a user's token here, but that of a device. */
  ownField?: "token";
  /** Also accepts JSON with the content type `text/plain`, which `navigator.sendBeacon` sends. */
  plainText?: true;
  /** Each call counts as an authentication attempt, like the calls of `/auth/`. */
  isAttempt?: true;
  /** The header with the signature that authenticates the call. A wrong signature counts as a failed attempt. */
  signed?: string;
  /** The request contains a secret, so the reply is not stored, and `Idempotency-Key` is ignored. */
  secret?: boolean;
  /** Does slow work, such as hashing, before the handler, because the handler's transaction blocks all writers. */
  prepare?(call: Call<Static<P>, Static<Q>, Static<B>>): Promise<W>;
  /** Runs after the handler failed and its transaction was rolled back. Throws the handler's error or another one. */
  onError?(ctx: Ctx, error: unknown): Promise<never>;
  /**
   * Reads the state of the reply; undefined if nothing is found. The replies of routes with this function have a weak
   * `ETag` and are compressed, so they must not contain secrets.
   */
  readEtagSource?(call: Call<Static<P>, Static<Q>, Static<B>>): Promise<State | undefined>;
  /**
   * Whether the reply may be kept in memory while its state stays the same. Such a reply must depend only on its state,
   * the store, the input, the language and `isCatalogOnly`.
   */
  mayKeep?(query: Static<Q>): boolean;
  /** Adds secrets to the reply. They are not in the reply that is stored for an `Idempotency-Key`. */
  complete?(ctx: Ctx, json: string): string;
  /** Answers `Accept: text/event-stream`. The generator yields a part at least once a second, and never ends. */
  stream?(call: Call<Static<P>, Static<Q>, Static<B>>): AsyncGenerator<StreamPart>;
  /** Returns the reply. If the route has `readEtagSource`, the reply's `state` must equal the `state` from there. */
  handle(call: Call<Static<P>, Static<Q>, Static<B>>, prepared: W): Promise<Reply>;
}

export interface Upload {
  types: readonly string[];
  bytes: number;
}

type Path = `/${string}/` | "/" | `/${string}/:file`;

export interface Route extends RouteOptions<TObject, TObject, TSchema, unknown> {
  method: Method;
  /** Ends with a slash unless it ends with a file's name; `:name` is a parameter. */
  path: Path;
  id: string;
}

/** Defines a route whose handler gets `params`, `query` and `body` with the types of their schemas. */
export function defineRoute<P extends TObject, Q extends TObject, B extends TSchema, W = undefined>(
  method: Method,
  path: Path,
  id: string,
  options: RouteOptions<P, Q, B, W>,
): Route {
  const body = method === "PUT" ? withIgnored(options) : options.body;
  return { method, path, id, ...options, body } as unknown as Route;
}

/** Returns the schema of a PUT. It ignores fields that only replies have, so a client can send what GET returned. */
function withIgnored({ body, reply }: { body?: TSchema; reply: { data: TSchema } }): TObject {
  const readOnly = Type.Optional(Type.Unknown({ description: "Read-only: ignored." }));
  const ignored = Object.fromEntries(Object.keys(reply.data.properties ?? {}).map((name) => [name, readOnly]));
  return Type.Object({ ...ignored, ...body?.properties }, body);
}
