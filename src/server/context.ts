import type { Session } from "./db/session.ts";
import { hasScope, type Scope } from "./security/scopes.ts";
import type { Vault } from "./security/vault.ts";

/** A store as requests need it; cached by the server. The table `tenants` says what its columns mean. */
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
  /** Seconds for which an unpaid order reserves stock; `transferHold` is for payment by bank transfer. */
  hold: number;
  transferHold: number;
  longHoldShare: number;
  shippingRates: string | null;
  taxRates: string | null;
  orderUrl: string | null;
  lowStockAt: number | null;
}

export type Actor =
  /** `isWeb`: whether web pages use the key. The address of a call is then the visitor's. */
  | { kind: "app"; appId: string; scopes: ReadonlySet<string>; isWeb?: boolean }
  /** `tokenId` is the id of the token that authenticated the user, if any. */
  | { kind: "user"; userId: string; role: "customer" | "staff" | "owner"; tokenId?: string }
  | { kind: "visitor" }
  | { kind: "server" }
  /** `account` is the operating system account. */
  | { kind: "terminal"; account?: string };

/**
 * Whether the caller sees only the public catalogue: published records, without exact stock and private data. True for
 * customers, for keys without `products:read`, and for keys of pages that may not write products, because every visitor
 * can read these keys.
 */
export function isCatalogOnly({ actor }: { actor: Actor }): boolean {
  if (actor.kind !== "app") return actor.kind === "visitor" || (actor.kind === "user" && actor.role === "customer");
  return (
    !hasScope(actor.scopes, "products:write") && (actor.isWeb === true || !hasScope(actor.scopes, "products:read"))
  );
}

/** Whether a caller may read records that a scope covers: keys with the scope, staff, and the program itself may. */
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

/** The context of every service: database or transaction, store, actor and time. */
export interface Ctx {
  db: Session;
  tenant: Tenant;
  actor: Actor;
  vault: Vault;
  requestId: string;
  /** Epoch milliseconds; a fake clock in tests. */
  now: () => number;
  /** In a request: the address, if known, and the `User-Agent`, which is never stored. */
  client?: { readonly ip: string | null; readonly userAgent?: string | null } | undefined;
  memory?: ProcessMemory | undefined;
  /** Whether endpoints of Web Push may be on this machine or a private network, and use http. */
  push?: { allowPrivate: boolean } | undefined;
  /** The token of a guest's order, sent as `X-Order-Token`. */
  orderToken?: string | undefined;
  payments?: PaymentOptions | undefined;
  /** The value of the header that signs a payment provider's webhook call, such as `Stripe-Signature`. */
  signature?: string | undefined;
  /** Where new pictures are stored; undefined is the database. */
  media?: MediaStore | undefined;
}

/** The addresses of payment providers, and the address at which providers call this server. */
export interface PaymentOptions {
  stripeUrl?: string | undefined;
  publicUrl?: string | undefined;
  /** The timeout of one request to a provider. */
  timeoutMs?: number;
}

/** A bucket of pictures, by file name. Errors: unavailable. */
export interface MediaStore {
  put(name: string, bytes: Uint8Array): Promise<void>;
  get(name: string): Promise<Uint8Array | undefined>;
  remove(name: string): Promise<void>;
}

/** The context of work that is not limited to one store: administration of tenants and keys. */
export type SystemCtx = Omit<Ctx, "tenant">;

/** The context of work on rows of all stores, such as that of background jobs. */
export type WorkCtx = Pick<Ctx, "db" | "now">;
