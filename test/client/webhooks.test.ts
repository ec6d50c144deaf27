import { afterAll, afterEach, beforeAll, expect, setSystemTime, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { WebhookMessage } from "../../src/client/client.ts";
import { onDatabase } from "../support/suite.ts";
import { closeReceivers, openHook } from "../support/webhooks.ts";
import { loadBuiltClient } from "./built-client.ts";

onDatabase("file", (suite) => {
  let verify: Awaited<ReturnType<typeof loadBuiltClient>>["verifyWebhook"];
  beforeAll(async () => {
    verify = (await loadBuiltClient()).verifyWebhook;
  });
  afterEach(() => void setSystemTime());
  afterAll(closeReceivers);

  /** Receives a message, and returns it with the time at which it was sent. */
  async function receive(): Promise<WebhookMessage & { secret: string; now: number; headers: Record<string, string> }> {
    const hook = await openHook(suite);
    await hook.record("product.updated", "prod_1");
    await hook.sender.runUntilIdle();
    const { id, timestamp, signature, text } = hook.receiver.received[0] ?? expect.unreachable();
    const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
    setSystemTime(hook.clock.now());
    return { headers, body: text, secret: hook.webhook.secret, now: hook.clock.now() };
  }

  test("verifyWebhook accepts a message as headers and body or as a request, if one of several secrets is right", async () => {
    const { secret, ...message } = await receive();
    const event = await verify(message, secret);
    expect([event?.type, event?.subject]).toEqual(["product.updated", "prod_1"]);
    expect(await verify({ ...message, headers: new Headers(message.headers) }, secret)).toEqual(event);
    const capitals = Object.entries(message.headers).map(([name, value]) => [name.toUpperCase(), value]);
    expect(await verify({ ...message, headers: Object.fromEntries(capitals) }, secret)).toEqual(event);
    const request = () => new Request("http://127.0.0.1/hooks", { ...message, method: "POST" });
    expect(await verify(request(), secret)).toEqual(event);
    expect(await verify(request(), ["whsec_b3RoZXI=", secret])).toEqual(event);
    const rotated = { ...message.headers, "webhook-signature": `v1,b3RoZXI= ${message.headers["webhook-signature"]}` };
    expect(await verify({ ...message, headers: rotated }, secret)).toEqual(event);
  });

  test("the functions of docs/WEBHOOKS.md for Node and Python accept signed messages only", async () => {
    const guide = readFileSync(join(import.meta.dir, "../../docs/WEBHOOKS.md"), "utf8");
    const blockIn = (language: string) => guide.match(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``))?.[1] as string;
    const { secret, now, headers, body } = await receive();
    const path = join(mkdtempSync(join(tmpdir(), "bodega-guide-")), "verify.mjs");
    writeFileSync(path, blockIn("js"));
    const { isFromBodega } = await import(path).finally(() => rmSync(dirname(path), { recursive: true }));
    const messages = [
      { headers, body },
      { headers, body: `${body} ` },
      { headers: {}, body },
      { headers: { ...headers, "webhook-timestamp": String(Math.floor(now / 1000) - 301) }, body },
      { headers: { ...headers, "webhook-signature": `v1,b3RoZXI= ${headers["webhook-signature"]}` }, body },
    ];
    const expected = [true, false, false, false, true];
    expect(messages.map((message) => isFromBodega(secret, message.headers, message.body))).toEqual(expected);
    const python = Bun.which("python3");
    if (!python) return;
    const program = `${blockIn("python")}
import json, sys
time.time = lambda: ${now / 1000}
for message in json.load(sys.stdin):
    print(is_from_bodega(${JSON.stringify(secret)}, message["headers"], message["body"].encode()))`;
    const child = Bun.spawn([python, "-c", program], {
      stdin: Buffer.from(JSON.stringify(messages)),
      stderr: "inherit",
    });
    expect((await child.stdout.text()).trim().toLowerCase().split("\n")).toEqual(expected.map(String));
  });

  test("verifyWebhook refuses a changed message, an old message, and a wrong signature", async () => {
    const { secret, now, ...message } = await receive();
    const withHeader = (name: string, value: string) => ({
      ...message,
      headers: { ...message.headers, [name]: value },
    });
    const refused = [
      { ...message, body: message.body.replace("prod_1", "prod_2") },
      { ...message, headers: {} },
      withHeader("webhook-id", "evt_1"),
      withHeader("webhook-timestamp", String(Math.floor(now / 1000) + 1)),
      withHeader("webhook-timestamp", "NaN"),
      withHeader("webhook-signature", ""),
      withHeader("webhook-signature", "v1,"),
      withHeader("webhook-signature", "v1,%%%"),
      withHeader("webhook-signature", message.headers["webhook-signature"]?.replace("v1,", "v2,") ?? ""),
    ];
    for (const one of refused) expect(await verify(one, secret)).toBeNull();
    for (const other of ["whsec_b3RoZXI=", "whsec_", "", "whsec_%", []])
      expect(await verify(message, other)).toBeNull();
    expect(await verify(message, secret)).not.toBeNull();
    setSystemTime(now + 301_000);
    expect(await verify(message, secret)).toBeNull();
    setSystemTime(now - 301_000);
    expect(await verify(message, secret)).toBeNull();
  });
});
