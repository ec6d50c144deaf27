import { afterAll, expect, setSystemTime, spyOn, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleClient, bundleClientTypes } from "../../scripts/build-client.ts";
import { goodPassword } from "../support/account.ts";
import { onDatabase } from "../support/suite.ts";
import { closeReceivers, openHook } from "../support/webhooks.ts";

const root = join(import.meta.dir, "..", "..");
const dir = mkdtempSync(join(tmpdir(), "bodega-guide-"));
const path = join(dir, "backend.ts");

interface Guide {
  onWebhook: (request: Request) => Promise<Response>;
  pointsOf: (email: string, password: string) => Promise<number>;
}

afterAll(async () => {
  setSystemTime();
  await closeReceivers();
  rmSync(dir, { recursive: true });
});

const types = bundleClientTypes();

/** Compiles the files of a guide with its own `tsconfig.json`. */
async function compile(guide: string, more: object = {}): Promise<[output: string, exitCode: number]> {
  const { compilerOptions, ...project } = JSON.parse(/```json\n([\s\S]*?)```/.exec(guide)?.[1] as string);
  Object.assign(compilerOptions, { noEmit: true, typeRoots: [join(root, "node_modules", "@types")], ...more });
  writeFileSync(join(dir, "tsconfig.json"), JSON.stringify({ compilerOptions, ...project }));
  const tsc = Bun.spawn([process.execPath, join(root, "node_modules", "typescript", "bin", "tsc"), "-p", dir]);
  return [await tsc.stdout.text(), await tsc.exited];
}

test("TypeScript finds the types of the page in docs/STOREFRONT.md by the server's address", async () => {
  const text = readFileSync(join(root, "docs", "STOREFRONT.md"), "utf8");
  writeFileSync(join(dir, "client.d.ts"), await types);
  writeFileSync(join(dir, "page.ts"), /```ts\n([\s\S]*?)```/.exec(text)?.[1] as string);
  const options = { strict: true, types: [], module: "esnext", moduleResolution: "bundler", lib: ["ES2022", "DOM"] };
  expect(await compile(text, options)).toEqual(["", 0]);
  rmSync(join(dir, "page.ts"));
}, 60_000);

onDatabase("file", (suite) => {
  test("the backend of docs/BACKEND.md compiles, and works in a store as the guide says", async () => {
    const text = readFileSync(join(root, "docs", "BACKEND.md"), "utf8");
    const blocks = [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, block]) => block);
    const hook = await openHook(suite, { types: ["order.*"] });
    const { shop, webhook, receiver } = hook;
    writeFileSync(path, blocks.join("\n").replaceAll('"demo"', JSON.stringify(shop.namespace)));
    writeFileSync(join(dir, "client.js"), await bundleClient());
    writeFileSync(join(dir, "client.d.ts"), await types);
    writeFileSync(join(dir, "package.json"), '{"type": "module"}');
    expect(await compile(text)).toEqual(["", 0]);

    setSystemTime(suite.app.clock.now());
    Object.assign(process.env, { BODEGA_URL: suite.app.url, APP_ID: shop.key.app_id, APP_SECRET: shop.key.app_secret });
    process.env.WEBHOOK_SECRET = webhook.secret;
    const printed = spyOn(console, "log").mockImplementation(() => {});
    try {
      const guide = (await import(path)) as Guide;
      await hook.sender.runUntilIdle();
      const { id, timestamp, signature, text: body } = receiver.received[0] ?? expect.unreachable();
      const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
      const post = (sent: Record<string, string>) =>
        new Request("http://x/hooks", { method: "POST", headers: sent, body });
      setSystemTime(hook.clock.now());
      expect((await guide.onWebhook(post(headers))).status).toBe(204);
      expect((await guide.onWebhook(post({}))).status).toBe(401);
      await shop.call("POST /users/", { body: { email: "ada@example.com", password: goodPassword } });
      expect(await guide.pointsOf("ada@example.com", goodPassword)).toBe(0);
      expect(printed.mock.calls.map((values) => values.join(" "))).toEqual([
        "Enamel mug 12.5",
        "Order 1: 17.9",
        "Sold out: items.0.quantity",
        expect.stringMatching(/^order\.created ord_/),
      ]);
    } finally {
      printed.mockRestore();
    }
  }, 60_000);
});
