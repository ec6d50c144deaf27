import { beforeAll, expect, test } from "bun:test";
import { usePreparedShop } from "./prepared-shop.ts";
import { openCli } from "./run-bodega.ts";

const copyShop = usePreparedShop();
let shop: ReturnType<typeof copyShop>;
let cli: ReturnType<typeof openCli>;

beforeAll(async () => {
  shop = copyShop();
  cli = openCli(shop.dataDir);
  await cli.json("tenant", "create", "second-shop", "--title", "Lamps & more", "--domain", "lamps.example.com");
  await cli.json("tenant", "suspend", "second-shop", "--yes");
  await cli.json("webhook", "add", "-n", "demo", "--url", "http://127.0.0.1:9/quiet", "--allow-private");
});

const list = <T = Record<string, unknown>>(...line: string[]) => cli.json<T[]>(...line);

test("tenants are filtered by status, and by a part of namespace, title or domain", async () => {
  const names = async (...flags: string[]) =>
    (await list<{ namespace: string }>("tenant", "list", ...flags)).map(({ namespace }) => namespace);
  expect(await names()).toEqual(["demo", "second-shop"]);
  expect(await names("--status", "suspended")).toEqual(["second-shop"]);
  for (const part of ["second", "LAMPS &", "lamps.example"])
    expect(await names("--query", part)).toEqual(["second-shop"]);
  expect(await names("--query", "lamps", "--status", "active")).toEqual([]);
  expect((await cli.run(["tenant", "list", "--query", "nothing"])).stderr).toStartWith("No stores found. ");
});

test("users are filtered by role, status, and the beginning of email or name", async () => {
  await cli.json("user", "disable", "-n", "demo", "grace@example.com");
  const emails = async (...flags: string[]) =>
    (await list<{ email: string }>("user", "list", "-n", "demo", ...flags)).map(({ email }) => email);
  expect(await emails("--limit", "1")).toHaveLength(1);
  expect(await emails("--role", "staff")).toEqual(["ada@example.com"]);
  expect(await emails("--status", "disabled")).toEqual(["grace@example.com"]);
  expect(await emails("--query", "ADA love")).toEqual(["ada@example.com"]);
  for (const wrong of [
    ["--role", "admin"],
    ["--status", "gone"],
    ["--limit", "0"],
  ])
    expect(await cli.failure("user", "list", "-n", "demo", ...wrong)).toMatchObject({ code: 2 });
});

test("webhooks are listed with address and state", async () => {
  const webhooks = await list<{ webhook_id: string }>("webhook", "list", "-n", "demo");
  const failing = webhooks.find(({ webhook_id }) => webhook_id === shop.webhookId);
  const shown = await cli.json("webhook", "show", "-n", "demo", "https://example.com/hooks");
  expect(shown).toEqual(failing as object as typeof shown);
  expect(shown).toMatchObject({ failed: 1, last_error: "answered 503" });
  expect(shown).not.toHaveProperty("secret");
  const { stderr } = await cli.run(["webhook", "show", "-n", "demo", shop.webhookId]);
  expect(stderr).toBe(
    `List the failed deliveries: bodega webhook deliveries -n demo ${shop.webhookId} --status failed\n`,
  );
  expect(await cli.failure("webhook", "show", "-n", "second-shop", shop.webhookId)).toMatchObject({ code: 3 });
});

test("mail is filtered by kind, age and recipient, and a list masks the address", async () => {
  const ids = async (...flags: string[]) =>
    (await list<{ id: string }>("mail", "list", "-n", "demo", ...flags)).map(({ id }) => id);
  const all = await ids();
  expect(all).toHaveLength(2);
  expect(await ids("--to", "ADA@example.com")).toEqual(all);
  expect(await ids("--to", "ada@example.com", "--limit", "1")).toEqual(all.slice(0, 1));
  expect(await ids("--to", "eve@example.com")).toEqual([]);
  expect(await ids("--kind", "test")).toEqual([]);
  expect(await ids("--since", "1h", "--status", "failed")).toEqual([shop.failedMailId]);
  expect(await ids("--since", "2090-01-31T00:00:00Z")).toEqual([]);
  const [masked] = await list<{ to: string }>("mail", "list", "-n", "demo");
  expect(masked?.to).toBe("a…@example.com");
  expect(JSON.stringify(masked)).not.toContain("012345");
  const [shown] = await list<{ to: string }>("mail", "list", "-n", "demo", "--show-recipients");
  expect(shown?.to).toBe("ada@example.com");
});

test("messages are filtered by topic, user and age", async () => {
  const ids = async (...flags: string[]) =>
    (await list<{ message_id: string }>("notify", "list", "-n", "demo", ...flags)).map(({ message_id }) => message_id);
  expect(await ids("--topic", "sale", "--since", "1h")).toEqual([shop.messageId]);
  expect(await ids("--topic", "news")).toEqual([]);
  expect(await ids("--user", "ada@example.com")).toEqual([]);
  expect(await ids("--since", "2090-01-31T00:00:00Z")).toEqual([]);
});

test("the audit log is filtered by the email of a user of its tenant", async () => {
  await cli.json("user", "disable", "-n", "demo", "ada@example.com");
  const events = async (...flags: string[]) =>
    (await list<{ event: string }>("audit", "list", "--event", "user.*", ...flags)).map(({ event }) => event);
  expect(await events("-n", "demo", "--subject", "ada@example.com")).toContain("user.disabled");
  expect(await events("-n", "second-shop", "--subject", "ada@example.com")).toEqual([]);
  expect(await events("-n", "demo", "--actor", "ada@example.com")).toEqual([]);
});
