import { beforeAll, expect, test } from "bun:test";
import { addOrigins, removeOrigins, setOrigins } from "../../../src/server/modules/app-keys/origins.ts";
import { newAddress } from "../../support/client.ts";
import type { Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

onDatabase("file", (suite) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await suite.shop();
    await setOrigins(suite.app.system, { appId: shop.key.app_id, origins: ["shop.example.com", "*.example.org"] });
  });
  const send = (origin: string | null, auth?: string) =>
    shop.call("GET /products/", { headers: { origin }, ...(auth && { auth }) });

  test("an allowed origin is accepted in any spelling, and the CORS headers repeat the spelling of the request", async () => {
    for (const origin of ["https://shop.example.com", "HTTPS://SHOP.Example.COM:443", "http://a.b.example.org"]) {
      const { status, headers } = await send(origin);
      expect([status, headers.get("access-control-allow-origin")]).toEqual([200, origin]);
    }
  });

  test("an empty Origin matches nothing", async () => {
    const { openConnection, formatHead } = await import("../../support/raw-http.ts");
    const connection = openConnection(suite.app);
    const headers = { authorization: shop.auth, origin: "", "x-test-peer": newAddress() };
    connection.write(formatHead({ head: `GET /products/?namespace=${shop.namespace} HTTP/1.1`, headers }));
    expect((await connection.read())?.status).toBe(401);
    connection.end();
  });

  test("the error names the refused origin only if the secret was right", async () => {
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

  test("a change of the allowlist applies to the next call, and removing the last entry does not allow all origins", async () => {
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

  test("a valid key from a refused origin does not count as a failed attempt, so a page there blocks no sign-in", async () => {
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
