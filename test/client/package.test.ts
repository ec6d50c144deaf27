import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildClient } from "../../scripts/build-client.ts";
import { onDatabase } from "../support/suite.ts";

const root = join(import.meta.dir, "..", "..");
const dir = mkdtempSync(join(tmpdir(), "bodega-client-package-"));
const project = join(dir, "project");
const dependency = join(project, "node_modules", "bodega-client");

async function run(command: string[]): Promise<{ exitCode: number; output: string }> {
  const child = Bun.spawn(command, { cwd: project, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, output: stdout + stderr };
}

beforeAll(async () => {
  await buildClient(join(dir, "package"));
  mkdirSync(dependency, { recursive: true });
  const packed = await run(["npm", "pack", join(dir, "package"), "--pack-destination", dir]);
  expect(packed).toMatchObject({ exitCode: 0 });
  const archive = readdirSync(dir).find((name) => name.endsWith(".tgz")) as string;
  await run(["tar", "-xzf", join(dir, archive), "-C", dependency, "--strip-components=1"]);
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module", private: true }));
}, 60_000);
afterAll(() => rmSync(dir, { recursive: true }));

test("the package contains the module, its types and the license, and needs no other package", () => {
  expect(readdirSync(dependency).toSorted()).toEqual(["LICENSE", "client.d.ts", "client.js", "package.json"]);
  const manifest = JSON.parse(readFileSync(join(dependency, "package.json"), "utf8"));
  expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name))).toEqual([]);
});

test("the module imports nothing, and uses only functions that browsers have", () => {
  const text = readFileSync(join(dependency, "client.js"), "utf8");
  expect(new Bun.Transpiler({ loader: "js" }).scanImports(text)).toEqual([]);
  expect(text).not.toMatch(/\b(?:process|Buffer|Bun|require|__dirname)\b/);
});

test("an uncaught error prints its name and message, and not the whole module", async () => {
  writeFileSync(
    join(project, "fail.js"),
    `import { createClient } from "bodega-client";
await createClient({ url: "http://127.0.0.1:1", namespace: "demo", retries: 0 }).products.list().page();
`,
  );
  for (const runtime of ["node", process.execPath]) {
    const { exitCode, output } = await run([runtime, "fail.js"]);
    expect([exitCode, output]).toEqual([1, expect.stringContaining("BodegaError: The server cannot be reached.")]);
    expect(output.length).toBeLessThan(4000);
  }
});

onDatabase("file", (suite) => {
  const { test } = suite;
  test("a project can read a store with the package, under Node and Bun", async ({ namespace, key, createProduct }) => {
    await createProduct({ title: "Enamel mug" });
    writeFileSync(
      join(project, "read.js"),
      `import { BodegaError, createClient } from "bodega-client";
const client = createClient(${JSON.stringify({ url: suite.app.url, namespace, app: { id: key.app_id, secret: key.app_secret } })});
for await (const { title } of client.products.list()) console.log(title);
const error = await client.products.get("nothing").catch((thrown) => thrown);
console.log(error instanceof BodegaError, error.code);
`,
    );
    for (const runtime of ["node", process.execPath]) {
      expect(await run([runtime, "read.js"])).toEqual({ exitCode: 0, output: "Enamel mug\ntrue 5301\n" });
    }
  });
});

/** Source of a TypeScript project. A line after `@ts-expect-error` must not compile. */
const use = `import { BodegaError, type Client, createClient, type Data, verifyWebhook } from "bodega-client";

const client: Client = createClient({ url: "https://api.example.com", namespace: "demo", app: { id: "a", secret: "b" } });
for await (const { title, price } of client.products.list({ category: "home", option: { size: "M" }, "price[gte]": 5 })) {
  title satisfies string;
  price satisfies number;
}
const { data, page } = await client.products.list({ facets: "tags" }).page();
data[0]?.variants satisfies unknown[] | undefined;
page.facets?.tags?.values satisfies unknown[] | undefined;
const order: Data<"POST /orders/"> = await client.orders.place(
  { items: [{ product_id: "prod_1", quantity: 1 }] },
  { query: { dry_run: true }, idempotencyKey: "cart-1", signal: AbortSignal.timeout(1000) },
);
order.total satisfies number;
await client.orders.cancel(order.id, undefined, { ifVersion: order.version });
const some = { lang: undefined as string | undefined, limit: undefined as number | undefined };
client.products.list(some);
await client.products.update("mug", { sku: undefined });
const product = await client.products.get("mug");
product.title satisfies string;
for await (const { id, price } of client.products.list({ fields: "price" })) {
  id satisfies string;
  price satisfies number | undefined;
  // @ts-expect-error
  price satisfies number;
}
const { store } = await client.auth.login({ email: "ada@example.com", password: "secret" });
store.currency satisfies string;
(await client.users.me()).addresses satisfies unknown[];
for await (const { created_at } of client.likes.list()) created_at satisfies string;
const resource_type = "product";
(await client.likes.get({ resource_type, resource_id: "prod_1" })).count satisfies number;
(await client.likes.get({ resource_type, resource_id: ["prod_1"] }))[0]?.active satisfies boolean | undefined;
(await client.call("PATCH /products/{id}/", { path: { id: "mug" }, body: { price: 13 } })).data.version satisfies number;
(await verifyWebhook(new Request("https://example.com"), "whsec_"))?.type satisfies string | undefined;
createClient({ url: "https://api.example.com", namespace: "demo", storage: localStorage });

try {
  await client.rewards.redeem({ points: 5 });
} catch (error) {
  if (!(error instanceof BodegaError)) throw error;
  if (error.code === 5304) error.details[0].field satisfies string;
  else if (error.code === 5102) error.details?.[0]?.message satisfies string | undefined;
  else if (error.code === 5301) error.details satisfies undefined;
  else if (error.code === 5107) error.retryAfter satisfies number;
  else if (error.code === "network") error.status satisfies number | undefined;
  // @ts-expect-error
  else if (error.code === 9999) throw error;
  // @ts-expect-error
  else error.details[0].field;
}
// @ts-expect-error
await client.products.get();
// @ts-expect-error
await client.orders.place({ items: "mug" });
// @ts-expect-error
client.products.list({ colour: "red" });
// @ts-expect-error
await client.call("GET /products/{id}/");
// @ts-expect-error
await client.call("GET /nothing/");
`;

test.each([
  ["typescript-5", { module: "nodenext" }],
  ["typescript", { module: "esnext", moduleResolution: "bundler" }],
])(
  "the types compile and narrow errors by code, with the strictest options of %s",
  async (compiler, how) => {
    writeFileSync(join(project, "use.ts"), use);
    const strict = [
      ..."strict exactOptionalPropertyTypes noUncheckedIndexedAccess noPropertyAccessFromIndexSignature".split(" "),
      ..."isolatedModules verbatimModuleSyntax noEmit".split(" "),
      // The types of the compiler itself are not part of the package.
      "skipDefaultLibCheck",
    ];
    const options = Object.fromEntries(strict.map((name) => [name, true]));
    const compilerOptions = { ...options, ...how, target: "es2022", lib: ["ES2022", "DOM"], types: [] };
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["use.ts"] }));
    const tsc = join(root, "node_modules", compiler, "bin", "tsc");
    expect(await run([process.execPath, tsc])).toEqual({ exitCode: 0, output: "" });
  },
  60_000,
);
