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
  return { server, printed: JSON.parse(server.stdout()) as Printed, dir: binary.dir };
}

describe("the shop of the demo", () => {
  test("has its own origin, serves every file of the example with a strict content security policy, and stops with the server", async () => {
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
    await server.end();
    expect(await fetch(shop).catch(() => "gone")).toBe("gone");
  }, 30_000);

  test("redirects the path of a view to its page, and has no reply for unknown files", async () => {
    const { server, printed } = await startDemo("--port", "0");
    const ask = (path: string, init?: RequestInit) => fetch(`${printed.shop_url}${path}`, init);
    const page = readFileSync(join(folder, "index.html"), "utf8");
    expect(await (await ask("/")).text()).toBe(page);
    const view = await ask("/p/mug?variant=1", { redirect: "manual" });
    expect([view.status, view.headers.get("location")]).toEqual([302, "/#/p/mug?variant=1"]);
    for (const path of ["/none.js", "/README.md", "/..%2fpackage.json"]) expect((await ask(path)).status).toBe(404);
    const head = await ask("/", { method: "HEAD" });
    expect({ status: head.status, type: head.headers.get("content-type"), body: await head.text() }).toEqual({
      status: 200,
      type: "text/html; charset=utf-8",
      body: "",
    });
    expect((await ask("/", { method: "POST" })).headers.get("allow")).toBe("GET, HEAD");
    expect((await ask("/", { headers: { host: 'a"b' } })).status).toBe(400);
    await server.end();
  }, 30_000);

  test("gives its pages a key that only their origin may use, and the page with the mail", async () => {
    const { server, printed } = await startDemo("--port", "0");
    const config = (await (await fetch(`${printed.shop_url}/config.json`)).json()) as {
      api: string;
      namespace: string;
      key: { id: string; secret: string };
      mail: string;
    };
    expect(config).toEqual({
      api: server.url,
      namespace: "demo",
      key: { id: printed.page_app_id, secret: printed.page_app_secret },
      mail: printed.mail_url,
    });
    const query = `namespace=demo&app_id=${config.key.id}&app_secret=${config.key.secret}`;
    const list = (origin: string) => fetch(`${server.url}/products/?${query}`, { headers: { origin } });
    expect((await list(printed.shop_url)).status).toBe(200);
    expect(await (await list("https://shop.example.com")).json()).toMatchObject({ error: { code: 5203 } });
    const client = await fetch(`${server.url}/client.js`, { headers: { origin: printed.shop_url } });
    expect(Object.fromEntries(client.headers)).toMatchObject({
      "access-control-allow-origin": "*",
      "content-type": "text/javascript; charset=utf-8",
    });
    await server.end();
  }, 30_000);

  test("has the port after that of the API, and refuses one that is in use", async () => {
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

  test("opens in a browser at a terminal, unless a flag forbids it", async () => {
    const binary = installBinary();
    const opened = join(binary.dir, "opened");
    for (const program of ["xdg-open", "open"]) {
      writeFileSync(join(binary.dir, program), `#!/bin/sh\necho "$1" >> '${opened}'\n`, { mode: 0o755 });
    }
    const env = { ...binary.env, PATH: `${binary.dir}:${binary.env.PATH}`, DISPLAY: ":1" };
    const options = { env, program: [binary.path] };
    const args = ["demo", "--port", "0", "--data-dir", join(binary.dir, "data")];
    const silent = await runAtTerminal([...args, "--no-open"], [["press Ctrl-C", "\u0003"]], options);
    expect(silent.code).toBe(0);
    const server = await binary.serveBy([binary.path, ...args]);
    await server.end();
    expect(existsSync(opened)).toBe(false);
    const { screen } = await runAtTerminal(args, [["press Ctrl-C", "\u0003"]], options);
    const url = /Shop: (\S+)/.exec(screen)?.[1] ?? "";
    expect(await until("the browser", () => existsSync(opened) && readFileSync(opened, "utf8"))).toBe(`${url}\n`);
  }, 30_000);
});
