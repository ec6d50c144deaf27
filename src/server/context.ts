import type { PushOptions } from "./config/push-config.ts";
import type { Session } from "./db/session.ts";
import type { Vault } from "./security/vault.ts";

/** What a request needs to know of its store; kept in memory by the server. */
export interface Tenant {
  id: string;
  namespace: string;
  title: string;
  /** ISO 4217 code, such as `EUR`. */
  currency: string;
  /** BCP 47 tag of the texts that name no language. */
  language: string;
  /** How long its user tokens last, in seconds. */
  tokenLifetime: number;
  /** Points earned for every 100 minor units paid, in thousandths. */
  pointsRate: number;
  /** What a point is worth when it pays, in minor units. */
  pointValue: number;
  /** How long points last, in days; null for ever. */
  pointsDays: number | null;
  /** Public writes a minute from one address; 0 for as many as come. */
  addressWrites: number;
  /** The same of one visitor or user. */
  visitorWrites: number;
}

/** Who is acting, once that is proved. */
export type Actor =
  | { kind: "app"; appId: string; scopes: ReadonlySet<string> }
  /** `tokenId` names the token that proved it, where one did. */
  | { kind: "user"; userId: string; role: "customer" | "staff" | "owner"; tokenId?: string }
  | { kind: "visitor" }
  /** The program itself, while it serves. */
  | { kind: "server" }
  /** `account` is the name that the operating system knows. */
  | { kind: "terminal"; account?: string };

/**
 * What a server's process keeps between requests. A module that keeps something adds its own part by declaration merging
 * (views, rate-limits, app-keys), so that this file depends on none of them.
 */
// biome-ignore lint/suspicious/noEmptyInterface: modules add its members.
export interface ProcessMemory {}

/** What every service gets: the database (or the transaction), whose store, who acts, and when. */
export interface Ctx {
  db: Session;
  tenant: Tenant;
  actor: Actor;
  /** The server's key. */
  vault: Vault;
  requestId: string;
  /** Epoch milliseconds; a fake clock in tests. */
  now: () => number;
  /** The caller's address, null from the terminal. */
  clientIp: string | null;
  /** What the caller's program says it is; null where it says nothing, undefined from the terminal. Kept nowhere. */
  userAgent?: string | null;
  /** What the process keeps between requests; undefined outside of a server. */
  memory?: ProcessMemory | undefined;
  /** As configured; undefined where it does not matter. */
  push?: PushOptions | undefined;
}

/** The context of work that stands above a single store: administering tenants and keys. */
export type SystemCtx = Omit<Ctx, "tenant">;
