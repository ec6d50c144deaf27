import type { Session } from "./db/session.ts";
import { hasScope, type Scope } from "./security/scopes.ts";
import type { Vault } from "./security/vault.ts";

/** The fields of a store that requests need. The server caches them. The table `tenants` explains them. */
export interface Tenant {
  id: string;
  namespace: string;
  title: string;
  currency: string;
  language: string;
  tokenLifetime: number;
  pointsRate: number;
  pointValue: number;
  pointsDays: number | null;
  addressWrites: number;
  visitorWrites: number;
  pendingOrders: number;
  stockShare: number;
  ordersPerMinute: number;
  signUp: "off" | "open" | "verified";
  signInByMail: "off" | "on";
  country: string | null;
  timezone: string;
  pricesIncludeTax: "no" | "yes";
  hold: number;
  transferHold: number;
  longHoldShare: number;
  shippingRates: string | null;
  taxRates: string | null;
  orderUrl: string | null;
  lowStockAt: number | null;
}

export type Actor =
  /** `isWeb`: whether web pages use the key. Each visitor of a page then calls from an address of their own. */
  | { kind: "app"; appId: string; scopes: ReadonlySet<string>; isWeb?: boolean }
  /** `tokenId` is the id of the token that authenticated the user, if any. */
  | { kind: "user"; userId: string; role: "customer" | "staff" | "owner"; tokenId?: string }
  | { kind: "visitor" }
  | { kind: "server" }
  /** `account` is the caller's account in the operating system. */
  | { kind: "terminal"; account?: string };

/**
 * Whether the caller sees only the public catalogue: published records, without exact stock and private data. Keys need
 * `products:read` or `products:write` to see more. The key of a web page needs `products:write`, because every visitor
 * can read such a key.
 */
export function isCatalogOnly({ actor }: { actor: Actor }): boolean {
  if (actor.kind !== "app") return actor.kind === "visitor" || (actor.kind === "user" && actor.role === "customer");
  if (hasScope(actor.scopes, "products:write")) return false;
  return actor.isWeb === true || !hasScope(actor.scopes, "products:read");
}

/** Whether the caller may read records that need this scope. Keys with the scope, staff and the program itself may. */
export function mayRead({ actor }: { actor: Actor }, scope: Scope): boolean {
  return actor.kind === "app" ? hasScope(actor.scopes, scope) : !isCatalogOnly({ actor });
}

export interface ProcessMemory {
  views: {
    isKnown(dedupKey: string): boolean;
    add(view: Record<"day" | "tenantId" | "resourceType" | "resourceId" | "dedupKey", string>): void;
  };
  writes: { count(tenant: Tenant, address: string | null, actor: string | null): void };
}

/** The first argument of every service: database or transaction, store, actor and time. */
export interface Ctx {
  db: Session;
  tenant: Tenant;
  actor: Actor;
  vault: Vault;
  requestId: string;
  /** Returns epoch milliseconds. Tests use a fake clock. */
  now: () => number;
  /** In a request: the caller's address, if known, and the `User-Agent`, which is never stored. */
  client?: { readonly ip: string | null; readonly userAgent?: string | null } | undefined;
  memory?: ProcessMemory | undefined;
  /** Whether endpoints of Web Push may be on this machine or a private network, and use http. */
  push?: { allowPrivate: boolean } | undefined;
  /** The token of a guest's order, sent as `X-Order-Token`. */
  orderToken?: string | undefined;
  payments?: PaymentOptions | undefined;
  /** The value of the header that signs a payment provider's webhook call, such as `Stripe-Signature`. */
  signature?: string | undefined;
  /** Where new pictures are stored. If undefined, the database stores them. */
  media?: MediaStore | undefined;
}

/** The addresses of payment providers, and the address at which providers call this server. */
export interface PaymentOptions {
  stripeUrl?: string | undefined;
  publicUrl?: string | undefined;
  /** The timeout of one request to a provider. */
  timeoutMs?: number;
}

/** Stores pictures in a bucket, by file name. Errors: unavailable. */
export interface MediaStore {
  put(name: string, bytes: Uint8Array): Promise<void>;
  get(name: string): Promise<Uint8Array | undefined>;
  remove(name: string): Promise<void>;
}

/** The context of work that is not limited to one store: administration of tenants and keys. */
export type SystemCtx = Omit<Ctx, "tenant">;

/** The context of work on rows of all stores, such as background jobs. */
export type WorkCtx = Pick<Ctx, "db" | "now">;
