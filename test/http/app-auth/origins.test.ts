import { beforeAll, expect, test } from "bun:test";
import { addOrigins, removeOrigins, setOrigins } from "../../../src/server/modules/app-keys/origins.ts";
import { newAddress } from "../../support/client.ts";
import type { Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

const words = (text: string) => text.split(/\s+/);

const list =
  words(`shop.example.com *.example.org https://pay.example.net local.example.net:3000 http://*.dev.example.net:8080
  bücher.example [2001:db8::1]`);

const passing =
  words(`https://shop.example.com http://shop.example.com https://SHOP.Example.COM HTTPS://shop.example.com
  https://shop.example.com:443 http://shop.example.com:80 https://shop.example.com:8443 https://a.example.org
  https://a.b.example.org https://A.b.EXAMPLE.org https://pay.example.net https://pay.example.net:443
  http://local.example.net:3000 https://local.example.net:3000 http://a.dev.example.net:8080
  https://xn--bcher-kva.example https://[2001:db8::1] https://[2001:DB8:0:0:0:0:0:1]:8443`);

const failing = [
  // Hosts that are similar to an exact entry.
  ...words(`https://www.shop.example.com https://example.com https://evilshop.example.com https://shop.example.com.evil.com
    https://shop.example.comevil.com https://shop-example.com https://shop.example.com.`),
  // Hosts that are similar to a wildcard.
  ...words(`https://example.org https://evilexample.org https://a.example.org.evil.com https://a.example.org.
    https://.example.org https://example.org.`),
  // Entries with a scheme or port do not match others.
  ...words(`http://pay.example.net http://local.example.net https://local.example.net:3001 http://a.dev.example.net
    https://a.dev.example.net:8080 http://dev.example.net:8080`),
  // Names that only look the same.
  ...words(`https://bucher.example https://xn--bcher-kva.example.com`),
  // Texts that are no origin of a page.
  ...words(`null NULL shop.example.com //shop.example.com file://shop.example.com ftp://shop.example.com
    chrome-extension://shop.example.com data:text/html,https://shop.example.com about:blank *`),
  // Texts with more than scheme, host and port.
  ...words(`https://shop.example.com/ https://shop.example.com/path https://shop.example.com?x https://shop.example.com?
    https://shop.example.com#x https://shop.example.com# https://shop.example.com@evil.com
    https://user@shop.example.com https://user:pass@shop.example.com https://:pass@shop.example.com
    https://@shop.example.com https://evil.com/https://shop.example.com https://evil.com#.shop.example.com
    https://evil.com?.example.org https://evil.com:443@shop.example.com https://shop.example.com:99999
    https://shop.example.com:abc https:shop.example.com https://shop%2eexample.com`),
  // Texts with white space or a backslash.
  "https://shop.example.com https://evil.com",
  "https://evil.com, https://shop.example.com",
  "https://evil.com\\@shop.example.com",
  "https:\\\\shop.example.com",
  "https://shop.exam\tple.com",
];

onDatabase("file", (suite) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await suite.shop();
    await setOrigins(suite.app.system, { appId: shop.key.app_id, origins: list });
  });
  const send = (origin: string | null, auth?: string) =>
    shop.call("GET /products/", { headers: { origin }, ...(auth && { auth }) });

  for (const origin of passing) {
    test(`Origin ${origin} passes`, async () => {
      const { status, headers } = await send(origin);
      expect(status).toBe(200);
      expect(headers.get("access-control-allow-origin")).toBe(origin);
    });
  }

  for (const origin of failing) {
    test(`Origin ${JSON.stringify(origin)} is 5203`, async () => {
      const { code, headers } = await send(origin);
      expect(code).toBe(5203);
      expect(headers.get("access-control-allow-origin")).toBeNull();
    });
  }

  test("an empty Origin matches nothing", async () => {
    const { openConnection, formatHead } = await import("../../support/raw-http.ts");
    const connection = openConnection(suite.app);
    const headers = { authorization: shop.auth, origin: "", "x-test-peer": newAddress() };
    connection.write(formatHead({ head: `GET /products/?namespace=${shop.namespace} HTTP/1.1`, headers }));
    expect((await connection.read())?.status).toBe(401);
    connection.end();
  });

  test("the refusal names the origin if the secret was right, and only then", async () => {
    const right = await send("https://evil.example");
    expect(right.error?.message).toContain("https://evil.example");
    expect(right.error?.remedy).toContain("from an allowed origin");
    const wrong = await send("https://evil.example", `Bearer ${shop.key.app_id}:wrong`);
    expect(wrong.code).toBe(5203);
    expect(wrong.text).not.toContain("evil.example");
    const wrongFromHome = await send("https://shop.example.com", `Bearer ${shop.key.app_id}:wrong`);
    expect(wrongFromHome.error).toEqual(wrong.error);
  });

  test("a long or malicious origin is shortened and escaped in the error", async () => {
    const { code, text } = await send(`https://${"a".repeat(3000)}.example`);
    expect(code).toBe(5203);
    expect(text.length).toBeLessThan(1000);
    expect((await send('https://x"},"data":{"y":"')).code).toBe(5203);
  });

  test("a change of the allowlist applies from the next call, and removing the last entry does not open the key", async () => {
    const { call, key } = await suite.shop();
    const { system } = suite.app;
    const appId = key.app_id;
    const ask = async (origin: string | null) => (await call("GET /products/", { headers: { origin } })).status;
    const seen: number[][] = [];
    const note = async () =>
      seen.push([await ask("https://a.example"), await ask("https://b.example"), await ask(null)]);
    await addOrigins(system, { appId, origins: ["a.example"] });
    await note();
    await addOrigins(system, { appId, origins: ["b.example"] });
    await note();
    await removeOrigins(system, { appId, origins: ["a.example"] });
    await note();
    await removeOrigins(system, { appId, origins: ["b.example"] });
    await note();
    await setOrigins(system, { appId, origins: [], enforce: false });
    await note();
    expect(seen).toEqual([
      [200, 401, 401],
      [200, 200, 401],
      [401, 200, 401],
      [401, 401, 401],
      [200, 200, 200],
    ]);
  });

  test("a valid key from a refused origin does not count as an attempt, so a page with the wrong key blocks no sign-in", async () => {
    const address = newAddress();
    const from = { headers: { origin: "https://evil.example" }, address };
    for (let n = 0; n < 11; n++) expect((await shop.call("GET /products/", from)).code).toBe(5203);
    expect(suite.app.entries.at(-1)).toMatchObject({ code: 5203, origin: "https://evil.example" });
    const login = () => shop.call("POST /auth/login/", { body: { email: "a@example.com", password: "x" }, address });
    expect((await login()).code).toBe(5212);
    const auth = `Bearer ${shop.key.app_id}:wrong`;
    for (let n = 0; n < 9; n++) expect((await shop.call("GET /products/", { ...from, auth })).code).toBe(5203);
    expect((await login()).code).toBe(5209);
  });
});
