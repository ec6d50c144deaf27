import { makePng } from "../../test/support/pictures.ts";
import type { Stage } from "./stage.ts";

const password = "Vermilion-Kettle-4871";
const n = ["-n", "demo"];

const products = [
  { sku: "MUG", title: "Mug", price: "11.90", stock: 90 },
  { sku: "BOWL", title: "Bowl", price: "24.50", stock: 80 },
  { sku: "VASE", title: "Vase", price: "79.00", stock: 40 },
  { sku: "BOOK", title: "Book of glazes", price: "18.69", stock: 70, taxClass: "reduced" },
  // Buyers want more jars than the stock has.
  { sku: "JAR", title: "The last jars", price: "33.33", stock: 4 },
] as const;

const rates = `zone,countries,name,price,free_from
Germany,DE,Parcel,4.90,80
Neighbours,AT FR,Parcel abroad,11.49,
`;
const taxes = `class,country,rate
standard,DE,19
reduced,DE,7
standard,AT,20
reduced,AT,10
standard,FR,20
reduced,FR,5.5
`;

export interface Product {
  id: string;
  sku: string;
  stock: number;
}

export interface Customer {
  id: string;
  email: string;
  query: { user_id: string; token: string };
}

export type Shop = Awaited<ReturnType<typeof openShop>>;

/** Opens a store with the commands that its owner would use, and starts the server. */
export async function openShop(stage: Stage) {
  const { run, write } = stage;
  const json = async <T>(...args: string[]) => JSON.parse(await run(...args, "--json")) as T;
  await run(
    "tenant",
    "create",
    "demo",
    "--title",
    "Kiln",
    "--currency",
    "EUR",
    "--country",
    "DE",
    "--timezone",
    "Europe/Berlin",
  );
  await run("tenant", "update", "demo", "--pending-orders", "0", "--orders-per-minute", "0", "--stock-share", "100");
  await run("tenant", "update", "demo", "--long-hold-share", "100", "--order-url", "https://shop.example/order");
  await run("tenant", "update", "demo", "--transfer-instructions", "IBAN DE02 1203 0000 0000 2020 51");
  await run("tenant", "update", "demo", "--low-stock-at", "5", "--invoice-from", "Kiln\nGasse 1\n10115 Berlin\nDE123");
  write("rates.csv", rates);
  write("taxes.csv", taxes);
  write("stripe.key", "sk_test_51standInOfStripe");
  await run("shipping", "set", ...n, "rates.csv", "--yes");
  await run("tax", "set", ...n, "taxes.csv", "--yes");
  await run("discount", "create", "TENTH", ...n, "--percent", "10");
  await run("discount", "create", "FIVE", ...n, "--amount", "5", "--minimum", "20");
  await run("discount", "create", "POST", ...n, "--free-shipping", "--limit", "3");
  await run("user", "create", ...n, "--email", "owner@example.com", "--role", "owner", "--random-password");
  await run("payment", "connect", "stripe", ...n, "--key-file", "stripe.key");
  const page = await json<{ app_id: string; app_secret: string }>(
    ...["key", "issue", ...n, "--name", "page", "--for", "storefront", "--allow-no-origin", "--publish"],
  );
  const desk = await json<{ app_id: string; app_secret: string }>(
    ...["key", "issue", ...n, "--name", "desk", "--for", "backend", "--publish"],
  );
  const made: Product[] = [];
  for (const [index, product] of products.entries()) {
    const { sku, title, price, stock } = product;
    const { product_id: id } = await json<{ product_id: string }>(
      ...["product", "create", ...n, "--title", title, "--sku", sku, "--price", price, "--stock", String(stock)],
    );
    write(
      `${sku}.png`,
      makePng(64, 64, (x, y) => [x * 4, y * 4, index * 40]),
    );
    await run("product", "image", "add", sku, `${sku}.png`, ...n);
    made.push({ id, sku, stock });
  }
  await stage.serve();
  const auth = `Bearer ${desk.app_id}:${desk.app_secret}`;
  for (const [index, product] of products.entries()) {
    if (!("taxClass" in product)) continue;
    await stage.must(`PATCH /products/${made[index]?.id}/`, { tax_class: product.taxClass }, { auth });
  }
  const customers: Customer[] = [];
  for (let index = 0; index < 8; index++) {
    const email = `customer-${index}@example.com`;
    const { id } = await stage.must<{ id: string }>(
      "POST /users/",
      { email, password, name: `Customer ${index}` },
      { auth },
    );
    const session = await stage.must<{ token: string }>("POST /auth/login/", { email, password });
    customers.push({ id, email, query: { user_id: id, token: session.token } });
    stage.clock.advance(20_000);
  }
  const offers = await stage.must<{ id: string; zone: string }[]>("GET /shipping/rates/", undefined, { auth });
  return { products: made, customers, offers, auth, pageAuth: `Bearer ${page.app_id}:${page.app_secret}` };
}
