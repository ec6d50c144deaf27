import { type Call, createClient, newAddress } from "./client.ts";
import { bearer, type Shop } from "./factories.ts";
import type { OrderReply } from "./orders.ts";

/** Opens a client with a storefront key, which every visitor of a page can read. */
export async function openPage(shop: Shop, address = newAddress()): Promise<Call> {
  const key = await shop.issueKey({ scopes: ["catalog:read", "orders:place"] });
  return createClient(shop.app, { namespace: shop.namespace, auth: bearer(key), address });
}

/** Returns a postal address, by default in Berlin. */
export function addressIn(country = "DE", postal_code = "10115") {
  return { name: "Eve", line1: "Straße 1", city: "Somewhere", postal_code, country };
}

export type GuestOrder = OrderReply & { access_token: string };

/** Places a guest's order with a storefront key, by default of one item. */
export async function placeAsGuest(page: Call, product_id: string, fields: Record<string, unknown> = {}) {
  const body = { items: [{ product_id, quantity: 1 }], email: "eve@example.com", ...fields };
  const { status, data, text } = await page<GuestOrder>("POST /orders/", { body });
  if (status !== 201) throw new Error(`The order was not placed: ${text}`);
  return data;
}

/** Replaces the shipping rates of a shop. The defaults for missing fields of a row are a rate in Germany for 4.90. */
export async function setShipping({ call }: Shop, rows: Record<string, unknown>[]): Promise<{ id: string }[]> {
  const rates = rows.map((row) => ({ zone: "home", countries: ["DE"], name: "Parcel", price: 4.9, ...row }));
  const { status, data, text } = await call<{ id: string }[]>("PUT /shipping/rates/", { body: { rates } });
  if (status !== 200) throw new Error(`The rates were not set: ${text}`);
  return data;
}

/** Replaces the tax rates of a shop. A row is such as `["standard", "DE", 19]`. */
export async function setTaxes({ call }: Shop, rows: [taxClass: string, country: string, rate: number][]) {
  const body = { rates: rows.map(([name, country, rate]) => ({ class: name, country, rate })) };
  const { status, text } = await call("PUT /taxes/rates/", { body });
  if (status !== 200) throw new Error(`The taxes were not set: ${text}`);
}

/** Creates a discount code in a shop. */
export async function createCode({ call }: Shop, fields: Record<string, unknown>) {
  const { status, data, text } = await call<{ id: string; uses: number }>("POST /discounts/", { body: fields });
  if (status !== 201) throw new Error(`The code was not created: ${text}`);
  return data;
}

/** Returns how many orders use a discount code at present. */
export async function usesOf({ call }: Shop, id: string): Promise<number> {
  return (await call<{ uses: number }>(`GET /discounts/${id}/`)).data.uses;
}
