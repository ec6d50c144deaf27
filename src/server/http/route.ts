import type { Static, TObject, TSchema } from "@sinclair/typebox";
import type { Ctx } from "../context.ts";
import type { ErrorKind } from "../errors.ts";
import type { Access } from "./access.ts";
import type { Reply } from "./envelope.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** What a handler gets: proved caller, checked input. */
export interface Call<P = Record<string, unknown>, Q = Record<string, unknown>, B = unknown> {
  ctx: Ctx;
  params: P;
  query: Q;
  body: B;
  /** The language asked for by `lang`, in its canonical form. */
  lang: string | undefined;
  /** Whom the call is about: `user_id` beside app credentials; undefined where it was not sent, and for other callers. */
  subject: string | undefined;
  /** The version that `If-Match` demands; null for `*` and for no header. */
  ifMatch: number | null;
}

/** One row of the API: where, who, what goes in, what comes out, what can go wrong. */
export interface RouteDefinition<P extends TObject, Q extends TObject, B extends TSchema, W = undefined> {
  method: Method;
  /** Canonical, with the trailing slash; `:name` is a parameter. */
  path: `/${string}/` | "/";
  /** Unique name in the API description. */
  id: string;
  tag: string;
  summary: string;
  /** Who may call. An empty list is refused at start: a route is closed until it says otherwise. */
  access: readonly [Access, ...Access[]];
  params?: P;
  query?: Q;
  body?: B;
  /**
   * The schema of `data`, and whether the reply has `page`. `existing` says, of what is else created (201), when it is
   * answered with 200; `single` is the schema of `data`, without `page`, where a call may ask about one thing instead.
   */
  reply: { status?: 200 | 201; data: TSchema; page?: boolean; existing?: string; single?: TSchema };
  /** Codes that this route adds to those that its access and input imply. */
  errors: readonly ErrorKind[];
  /** Whether `If-Match` is honoured. */
  conditional?: boolean;
  /** A common parameter that in this body is a field of its own: `token` of a device is no credential. */
  ownField?: "token";
  /** Whether it proves or answers a secret: nothing of such a call is kept, and `Idempotency-Key` not looked at. */
  secret?: boolean;
  /**
   * Work before the handler that waits for more than the database, such as hashing: with an `Idempotency-Key` the
   * handler runs inside a transaction, where that would hold up every writer.
   */
  prepare?(call: Call<Static<P>, Static<Q>, Static<B>>): Promise<W>;
  handle(call: Call<Static<P>, Static<Q>, Static<B>>, prepared: W): Promise<Reply>;
}

/** A route whose schemas are no longer told apart by type. */
export type Route = RouteDefinition<TObject, TObject, TSchema, unknown>;

/** Declares a route; its handler's `params`, `query` and `body` have the types of their schemas. */
export function defineRoute<P extends TObject, Q extends TObject, B extends TSchema, W = undefined>(
  definition: RouteDefinition<P, Q, B, W>,
): Route {
  if (definition.access.length === 0)
    throw new Error(`${definition.method} ${definition.path} names nobody who may call`);
  return definition as unknown as Route;
}
