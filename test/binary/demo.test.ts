import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runAtTerminal } from "../cli/run-bodega.ts";
import { useBinaries } from "../support/binary.ts";
import { findPort } from "../support/port.ts";
import { until } from "../support/until.ts";
import { root } from "./lone-executable.ts";

const { installBinary } = useBinaries();
const folder = join(root, "examples/storefront");

type Printed = Record<"shop_url" | "mail_url" | "page_app_id" | "page_app_secret", string>;

/** Starts the demo. Its directory contains only the executable. */
async function startDemo(...flags: string[]) {
  const binary = installBinary();
  const server = await binary.serveBy([binary.path, "demo", "--json", ...flags]);
  return { server, printed: JSON.parse(server.stdout()) as Printed };
}

/** The path of a page of the shop redirects to that page, and an unknown file is 404. */
async function checkPaths(shop: string): Promise<void> {
  const ask = (path: string, init?: RequestInit) => fetch(`${shop}${path}`, init);
  expect(await (await ask("/")).text()).toBe(readFileSync(join(folder, "index.html"), "utf8"));
  const view = await ask("/p/mug?variant=1", { redirect: "manual" });
  expect([view.status, view.headers.get("location")]).toEqual([302, "/#/p/mug?variant=1"]);
  for (const path of ["/none.js", "/README.md", "/..%2fpackage.json"]) expect((await ask(path)).status).toBe(404);
  const head = await ask("/", { method: "HEAD" });
  expect([head.status, head.headers.get("content-type"), await head.text()]).toEqual([
    200,
    "text/html; charset=utf-8",
    "",
  ]);
  expect((await ask("/", { method: "POST" })).headers.get("allow")).toBe("GET, HEAD");
  expect((await ask("/", { headers: { host: 'a"b' } })).status).toBe(400);
}

/** The pages get a key that works only on their origin, and the address of the page with the mails. */
async function checkConfig(api: string, printed: Printed): Promise<void> {
  const config: unknown = await (await fetch(`${printed.shop_url}/config.json`)).json();
  const key = { id: printed.page_app_id, secret: printed.page_app_secret };
  expect(config).toEqual({ api, namespace: "demo", key, mail: printed.mail_url });
  const query = `namespace=demo&app_id=${key.id}&app_secret=${key.secret}`;
  const list = (origin: string) => fetch(`${api}/products/?${query}`, { headers: { origin } });
  expect((await list(printed.shop_url)).status).toBe(200);
  expect(await (await list("https://shop.example.com")).json()).toMatchObject({ error: { code: 5203 } });
  const client = await fetch(`${api}/client.js`, { headers: { origin: printed.shop_url } });
  expect(client.headers.get("access-control-allow-origin")).toBe("*");
  expect(client.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
}

describe("the shop of the demo", () => {
  test("the shop of the demo has its own origin and key, serves every file of the example with a strict content security policy, and stops with the server", async () => {
    const { server, printed } = await startDemo("--port", "0");
    const shop = printed.shop_url;
    expect(Object.keys(printed)[0]).toBe("shop_url");
    expect(new URL(shop).origin).not.toBe(new URL(server.url).origin);
    const served = /\.(?:html|css|js|json|webmanifest|svg|png|webp)$/;
    const names = [...new Bun.Glob("**/*").scanSync(folder)].filter((name) => served.test(name));
    expect(names).toContain("index.html");
    for (const name of names) {
      const reply = await fetch(`${shop}/${name}`);
      const { status, headers } = reply;
      expect({ name, status }).toEqual({ name, status: 200 });
      expect(Buffer.from(await reply.arrayBuffer()).equals(readFileSync(join(folder, name)))).toBe(true);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      const policy = headers.get("content-security-policy");
      expect(policy).toContain(`script-src 'self' ${server.url};`);
      expect(policy).not.toContain("unsafe");
      const again = await fetch(`${shop}/${name}`, { headers: { "if-none-match": headers.get("etag") ?? "" } });
      expect({ name, status: again.status }).toEqual({ name, status: 304 });
    }
    await checkPaths(shop);
    await checkConfig(server.url, printed);
    await server.end();
    expect(await fetch(shop).catch(() => "gone")).toBe("gone");
  }, 30_000);

  test("the shop of the demo uses the port after the API's port, and refuses a port that is in use", async () => {
    const taken = findPort();
    const occupier = Bun.serve({ hostname: "127.0.0.1", port: taken, fetch: () => new Response() });
    const binary = installBinary();
    const command = [binary.path, "demo", "--port", String(taken - 1)];
    const refused = await binary.run(...command.slice(1));
    expect(refused).toMatchObject({ code: 4, stdout: "" });
    expect(refused.stderr).toContain(
      `127.0.0.1:${taken} is in use by another program. Choose another port with --shop-port.`,
    );
    await occupier.stop(true);
    const second = await binary.serveBy([...command, "--examples"]);
    expect(second.stdout()).toStartWith(`Shop: http://127.0.0.1:${taken}\n`);
    await until("the requests", () => second.stdout().includes("# List its products"));
    await second.end();
  }, 30_000);

  test("doctor warns neither of settings nor of payments in a running demo, and the next start names a damaged file of payments", async () => {
    const binary = installBinary();
    const server = await binary.serveBy([binary.path, "demo", "--port", "0", "--no-open"]);
    const { stdout } = await binary.run("doctor", "--data-dir", "bodega-demo", "--json");
    const { findings } = JSON.parse(stdout) as { findings: { check: string; subject: string }[] };
    expect(findings.filter(({ check, subject }) => check === "payments" || subject.endsWith("bodega.env"))).toEqual([]);
    await server.end();
    const file = join(binary.dir, "bodega-demo/demo-payments.json");
    writeFileSync(file, readFileSync(file, "utf8").slice(0, 40));
    const { code, stderr } = await binary.run("demo", "--port", "0");
    expect([code, stderr]).toEqual([4, expect.stringContaining("demo-payments.json is damaged.")]);
    expect(stderr).toContain("Delete it.");
  }, 30_000);

  test("the shop of the demo opens in a browser at a terminal, unless a flag forbids it", async () => {
    const binary = installBinary();
    const opened = join(binary.dir, "opened");
    for (const program of ["xdg-open", "open"]) {
      writeFileSync(join(binary.dir, program), `#!/bin/sh\necho "$1" >> '${opened}'\n`, { mode: 0o755 });
    }
    const env = { ...binary.env, PATH: `${binary.dir}:${binary.env.PATH}`, DISPLAY: ":1" };
    const options = { env, program: [binary.path] };
    const args = ["demo", "--port", "0", "--data-dir", join(binary.dir, "data")];
    const silent = await runAtTerminal([...args, "--no-open"], [["press Ctrl-C", "\u0003"]], options);
    expect([silent.code, existsSync(opened)]).toEqual([0, false]);
    const { screen } = await runAtTerminal(args, [["press Ctrl-C", "\u0003"]], options);
    const url = /Shop: (\S+)/.exec(screen)?.[1] ?? "";
    expect(await until("the browser", () => existsSync(opened) && readFileSync(opened, "utf8"))).toBe(`${url}\n`);
  }, 30_000);
});
