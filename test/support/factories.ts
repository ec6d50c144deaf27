import type { Ctx } from "../../src/server/context.ts";
import type { IssuedAppKey } from "../../src/server/modules/app-keys/service.ts";
import { issueKey } from "../../src/server/modules/app-keys/service.ts";
import type { TenantInput } from "../../src/server/modules/tenants/input.ts";
import { createTenant, requireTenant, type TenantRecord } from "../../src/server/modules/tenants/service.ts";
import type { TestApp } from "./app.ts";
import { type Call, createClient } from "./client.ts";

/** The fields of a product in a reply that tests use. */
export interface ProductReply {
  id: string;
  title: string;
  slug: string;
  description: string | null;
  status: string;
  price: number;
  price_minor: number;
  compare_at_price: number | null;
  currency: string;
  sku: string | null;
  stock: number | null;
  available: number | null;
  allow_backorder: boolean;
  category_ids: string[];
  weight_g: number | null;
  requires_shipping: boolean;
  tax_class: string;
  images: { url: string; alt: string }[];
  tags: string[];
  metadata: Record<string, unknown>;
  translations: Record<string, { title?: string; description?: string }>;
  variants: VariantReply[];
  likes_count: number;
  views_count: number;
  lang: string;
  version: number;
  created_at: string;
  updated_at: string;
  published_at: string | null;
}

/** The fields of a variant in a reply that tests use. */
export interface VariantReply {
  id: string;
  title: string;
  sku: string | null;
  weight_g: number | null;
  options: Record<string, string>;
  price: number;
  price_minor: number;
  compare_at_price: number | null;
  currency: string;
  has_own_price: boolean;
  stock: number | null;
  available: number | null;
  position: number;
  version: number;
  created_at: string;
  updated_at: string;
}

/** Options of a new key, which is published by default. */
export type KeyOptions = Partial<Omit<Parameters<typeof issueKey>[1], "namespace">>;

/** A new store with a key of all scopes, and a client with this key. */
export interface Shop {
  app: TestApp;
  namespace: string;
  tenant: TenantRecord;
  key: IssuedAppKey;
  /** The `Authorization` header of the key. */
  auth: string;
  /** Calls the API with namespace and key. */
  call: Call;
  /** Calls the API with the namespace only, from another address. */
  callAnonymously: Call;
  issueKey: (options?: KeyOptions) => Promise<IssuedAppKey>;
  createProduct: (fields?: Record<string, unknown>) => Promise<ProductReply>;
}

/** Returns a namespace that is unique in this run. */
export function newNamespace(): string {
  return `t-${Bun.randomUUIDv7("hex")}`;
}

/** Returns the `Authorization` header of a key. */
export function bearer(key: { app_id: string; app_secret: string }): string {
  return `Bearer ${key.app_id}:${key.app_secret}`;
}

/** Creates a tenant and a published key through the services. */
export async function createShop(
  app: TestApp,
  options: { tenant?: TenantInput; key?: KeyOptions } = {},
): Promise<Shop> {
  const namespace = newNamespace();
  const tenant = await createTenant(app.system, { namespace, ...options.tenant });
  const issue = (more: KeyOptions = {}) => issueKey(app.system, { namespace, name: "test", publish: true, ...more });
  const key = await issue(options.key);
  const auth = bearer(key);
  const call = createClient(app, { namespace, auth });
  return {
    app,
    namespace,
    tenant,
    key,
    auth,
    call,
    callAnonymously: createClient(app, { namespace }),
    issueKey: issue,
    async createProduct(fields = {}) {
      const body = { title: "Lamp", price: 19, ...fields };
      const reply = await call<ProductReply>("POST /products/", { body });
      if (reply.status !== 201) throw new Error(`The product was not created: ${reply.text}`);
      return reply.data;
    },
  };
}

/** Returns the context of a tenant's services, as for the terminal. */
export async function tenantContext({ app, namespace }: { app: TestApp; namespace: string }): Promise<Ctx> {
  return { ...app.system, tenant: await requireTenant(app.system, namespace) };
}
