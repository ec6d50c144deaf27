import { expect, test } from "bun:test";
import { openAccount } from "../../support/account.ts";
import type { ApiReply, CallOptions } from "../../support/client.ts";
import type { Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

const absent = "prod_01h455vb4pex5vsknk084sn02q";
const absentVariant = "var_01h455vb4pex5vsknk084sn02q";
const unknown = ["no-such-lamp", "Blaue Lampe", "a\0b", "'--", "x".repeat(500)];
type Caller = <T>(request: string, options?: CallOptions) => Promise<ApiReply<T>>;

/** Returns a call of each route with a product in its path, with this id or slug. The last call deletes the product. */
function callsNaming(name: string, variantId: string) {
  const [product, wish] = [`/products/${encodeURIComponent(name)}/`, `/wishlist/${encodeURIComponent(name)}/`];
  const variant = `${product}variants/${variantId}/`;
  return [
    { request: `GET ${product}` },
    { request: `PATCH ${product}`, body: { price: 4 } },
    { request: `PUT ${product}`, body: { title: "Blaue Lampe", price: 3 } },
    { request: `GET ${product}variants/` },
    { request: `POST ${product}variants/`, body: { options: { size: "L" } } },
    { request: `GET ${variant}` },
    { request: `PATCH ${variant}`, body: { stock: 3 } },
    { request: `PUT ${wish}`, body: { note: "Blue" } },
    { request: `GET ${wish}` },
    { request: `DELETE ${wish}` },
    { request: `DELETE ${variant}` },
    { request: `DELETE ${product}` },
  ];
}

onDatabase("file", (suite) => {
  async function open() {
    const shop = await suite.shop();
    const variants = [{ options: { size: "S" } }];
    const product = await shop.createProduct({ title: "Blaue Lampe", slug: "blaue-lampe", variants });
    const customer = await openAccount(shop);
    const owner = await openAccount(shop, { role: "owner" });
    return { shop, product, customer, owner, variantId: (product.variants[0] as { id: string }).id };
  }
  const callOf = ({ shop, customer }: { shop: Shop; customer: { id: string } }): Caller => {
    return (request, options) =>
      shop.call(request, { ...options, ...(request.includes("/wishlist/") && { query: { user_id: customer.id } }) });
  };

  test("each path with a product's id also accepts the slug, and replies contain the id", async () => {
    const opened = await open();
    const { product, variantId } = opened;
    const call = callOf(opened);
    for (const { request, body } of callsNaming(product.slug, variantId)) {
      const { status, data } = await call<Record<string, unknown>>(request, { ...(body && { body }) });
      expect([request, status]).toEqual([request, request.match(/^POST|PUT.*wish/) ? 201 : 200]);
      if (request.includes("/wishlist/")) expect([request, data?.product_id]).toEqual([request, product.id]);
      else if (!request.includes("/variants/")) expect([request, data?.id]).toEqual([request, product.id]);
    }
    expect((await call(`GET /products/${product.slug}/`)).code).toBe(5301);
  });

  test("unknown slugs, and slugs of other stores, deleted products and drafts, get the reply of an unknown id", async () => {
    const opened = await open();
    const { shop, product, customer, variantId } = opened;
    await shop.createProduct({ title: "Entwurf", slug: "entwurf", status: "draft" });
    const gone = await shop.createProduct({ title: "Weg", slug: "weg" });
    await shop.call(`DELETE /products/${gone.id}/`);
    const seen = (reply: ApiReply<unknown>, name: string) =>
      JSON.stringify([reply.status, reply.code, reply.error?.message]).replaceAll(
        JSON.stringify(name).slice(1, -1),
        "…",
      );
    const product404 = '[404,5301,"Product \\"…\\" not found."]';
    const other = await suite.shop();
    await other.createProduct({ slug: "anderswo" });
    for (const name of ["weg", "anderswo", "no-such-lamp"]) {
      for (const { request, body } of callsNaming(name, variantId)) {
        const reply = await callOf(opened)(request, { ...(body && { body }) });
        expect([request, seen(reply, name)]).toEqual([request, product404]);
      }
    }
    for (const name of unknown) expect((await shop.call(`GET /products/${encodeURIComponent(name)}/`)).code).toBe(5301);
    for (const name of ["entwurf", absent]) {
      const path = `/products/${name}/`;
      expect(seen(await customer.call(`GET ${path}`), name)).toBe(product404);
      expect(seen(await customer.call(`GET ${path}variants/`), name)).toBe(product404);
      expect((await customer.call(`GET ${path}variants/${absentVariant}/`)).code).toBe(5301);
      expect(seen(await customer.call(`PUT /wishlist/${name}/`, { body: {} }), name)).toBe(product404);
      expect((await customer.call(`GET /wishlist/${name}/`)).code).toBe(5301);
    }
    expect((await opened.owner.call("GET /products/entwurf/")).status).toBe(200);
    expect((await shop.call(`GET /products/${product.slug}/`)).status).toBe(200);
  });
});
