import { beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { newPng } from "../support/pictures.ts";
import { makeDir, openCli } from "./run-bodega.ts";

const { json, failure, here } = openCli();
const demo = ["-n", "demo"];

interface Envelope {
  request_id: string;
  data: Record<string, unknown>;
  error: { code: number; details?: { field: string }[] };
}

/** Runs a request, and returns the exit code and the printed JSON. */
async function api(line: string, input?: string) {
  const { code, stdout, stderr } = await here(["api", ...line.split(" "), ...demo], input ? { input } : {});
  expect(stderr).toBe("");
  return { code, reply: JSON.parse(stdout) as Envelope };
}

beforeAll(async () => {
  for (const name of ["demo", "other"]) await json("tenant", "create", name);
  for (const sku of ["A", "B", "C"]) {
    await json("product", "create", ...demo, "--title", sku, "--price", "12", "--sku", sku);
  }
  for (const name of ["ada", "eve"]) {
    const { code } = await here(["user", "create", ...demo, "--email", `${name}@example.com`, "--password-stdin"], {
      input: "Marmalade-Teapot-73\n",
    });
    expect(code).toBe(0);
  }
});

test("bodega api runs a request through the checks of the server, and prints an error as its JSON envelope, with exit code 1", async () => {
  const made = await api('POST /products/ -f title=Lamp -F price=79.9 -F tags=["new"]');
  expect(made).toMatchObject({ code: 0, reply: { data: { title: "Lamp", price: 79.9, tags: ["new"] } } });
  const path = `/products/${made.reply.data.id}/`;
  expect(await api(`PATCH ${path} --input -`, '{"price": 81}')).toMatchObject({
    code: 0,
    reply: { data: { price: 81 } },
  });
  expect(await api(`PATCH ${path} -f price=81`)).toMatchObject({
    code: 1,
    reply: { error: { code: 5102, details: [{ field: "price" }] } },
  });
  expect(await api("PATCH /products/ -F price=1")).toMatchObject({ code: 1, reply: { error: { code: 5105 } } });
  expect(await api(`DELETE ${path}`)).toMatchObject({ code: 0, reply: { data: { deleted: true } } });
  expect(await api(`GET ${path}`)).toMatchObject({ code: 1, reply: { error: { code: 5301 } } });
});

test("fields of a GET become its query, but cannot name another store", async () => {
  const { reply } = await api("GET /products/?namespace=other -f limit=1 -f status=published -f sort=title");
  expect(reply.data).toMatchObject([{ title: "A" }]);
});

test("--paginate prints all pages as one array, and --lines prints one record a line", async () => {
  const all = await api("GET /products/?limit=2 -f sort=title --paginate");
  expect(all.reply).toMatchObject([{ sku: "A" }, { sku: "B" }, { sku: "C" }]);
  const { stdout } = await here(["api", "GET", "/products/?limit=2&fields=sku", "--paginate", "--lines", ...demo]);
  expect(stdout.match(/^\{"id":"prod_\w+","sku":"[ABC]"\}$/gm)).toHaveLength(3);
  const { reply: events } = await api("GET /events/?types=product.created&limit=1 --paginate");
  expect(events).toHaveLength(4);
});

test("with --as, a request has the permissions of the user", async () => {
  const orders = await api("GET /users/me/ --as ada@example.com");
  expect(orders.reply.data).toMatchObject({ email: "ada@example.com" });
  const forbidden = await api("POST /products/ -f title=Lamp -F price=1 --as ada@example.com");
  expect(forbidden).toMatchObject({ code: 1, reply: { error: { code: 5300 } } });
  expect(await api("GET /users/me/")).toMatchObject({ code: 1, reply: { error: { code: 5300 } } });
  await json("user", "disable", "eve@example.com", ...demo);
  expect((await failure("api", "GET", "/users/me/", "--as", "eve@example.com", ...demo)).code).toBe(4);
  expect((await failure("api", "GET", "/users/me/", "--as", "nobody@example.com", ...demo)).code).toBe(3);
});

test("a picture is uploaded as a file", async () => {
  const path = join(makeDir(), "lamp.png");
  writeFileSync(path, newPng());
  expect(await api(`POST /media/ --input ${path}`)).toMatchObject({
    code: 0,
    reply: { data: { width: 8, height: 6 } },
  });
});

test("a view that a command counts is written before the command ends", async () => {
  const { reply } = await api("GET /products/?limit=1");
  const [product] = reply.data as unknown as { id: string }[];
  const resource = `-f resource_type=product -f resource_id=${product?.id}`;
  await api(`POST /views/ ${resource}`);
  expect((await api(`GET /views/ ${resource}`)).reply.data).toMatchObject({ count: 1 });
});

test("a wrong command line is refused before the request", async () => {
  for (const line of [
    ["GET", "orders/"],
    ["POST", "/products/", "--paginate"],
    ["POST", "/products/", "-F", "price=1,5"],
    ["POST", "/products/", "--input", "/missing.json"],
  ]) {
    expect((await failure("api", ...line, ...demo)).code).toBe(2);
  }
});
