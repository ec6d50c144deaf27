import { expect, test } from "bun:test";
import { onDatabase } from "../../support/suite.ts";

onDatabase("file", (suite) => {
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${suite.app.url}${path}`, { headers });

  test("the reply of / has the name of the service, whether it is ready, and the address of the API description", async () => {
    const reply = await get("/");
    expect(reply.headers.get("vary")).toContain("Accept");
    expect(await reply.json()).toEqual({
      request_id: expect.any(String),
      data: { name: "Bodega", version: "0.0.0-test", ready: true, docs: "/docs", description: "/openapi.json" },
    });
    expect((await fetch(`${suite.app.url}/`, { method: "POST" })).status).toBe(405);
  });

  test("/ redirects browsers to the reference", async () => {
    const reply = await get("/", { accept: "text/html,application/xhtml+xml,*/*;q=0.8" });
    expect([reply.status, reply.url]).toEqual([200, `${suite.app.url}/docs`]);
  });

  test("the reference runs only scripts of this server, and loads nothing from other hosts", async () => {
    const page = await get("/docs", { accept: "text/html" });
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    const text = await page.text();
    expect(text).not.toMatch(/<script>| on\w+=|https?:/);
    const scripts = [...text.matchAll(/<script src="([^"]+)"/g)].map(([, path]) => path as string);
    expect(scripts).toEqual(["docs/reference.js", "docs/start.js"]);
    for (const path of scripts) {
      const script = await get(`/${path}`, { "accept-encoding": "zstd" });
      expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
      expect(script.headers.get("x-content-type-options")).toBe("nosniff");
      expect((await script.text()).length).toBeGreaterThan(300);
      const again = await get(`/${path}`, { "if-none-match": script.headers.get("etag") ?? "" });
      expect([again.status, await again.text()]).toEqual([304, ""]);
    }
  });

  test("/docs/ leads to the reference, even below the prefix of a proxy", async () => {
    const proxied = await fetch(`${suite.app.url}/docs/`, { redirect: "manual" });
    expect(proxied.status).toBe(308);
    const location = proxied.headers.get("location") ?? "";
    expect(new URL(location, "https://shop.example/api/docs/").href).toBe("https://shop.example/api/docs");
    const page = await get("/docs/", { accept: "text/html" });
    expect([page.status, page.url]).toEqual([200, `${suite.app.url}/docs`]);
  });

  test("pages of any origin can read the client and its types, compressed, and read them again only after a change", async () => {
    for (const [path, type, part] of [
      ["/client.js", "text/javascript; charset=utf-8", "createClient"],
      ["/client.d.ts", "text/plain; charset=utf-8", "export declare function createClient"],
    ] as const) {
      const reply = await get(path, { origin: "https://shop.example.com", "accept-encoding": "gzip" });
      const { status, headers } = reply;
      const names = ["content-type", "access-control-allow-origin", "content-encoding", "cache-control"];
      expect([status, ...names.map((name) => headers.get(name))]).toEqual([200, type, "*", "gzip", "no-cache"]);
      expect(await reply.text()).toContain(part);
      const again = await get(path, { "if-none-match": headers.get("etag") ?? "" });
      expect([again.status, await again.text()]).toEqual([304, ""]);
    }
  });
});

onDatabase(
  "file",
  (suite) => {
    test("a server without the reference replies to the reference's paths as to unknown paths, and does not link to them", async () => {
      for (const path of ["/docs", "/docs/", "/docs/reference.js"])
        expect((await fetch(`${suite.app.url}${path}`)).status).toBe(404);
      expect(await (await fetch(`${suite.app.url}/`)).text()).not.toContain("docs");
    });
  },
  { hasDocs: false },
);
