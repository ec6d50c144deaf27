import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { eventTypes } from "../../src/server/modules/events/model.ts";
import { expectedSignature } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { closeReceivers, openReceiver } from "../support/webhooks.ts";
import { openCli, useServers } from "./run-bodega.ts";

const { json, failure, here: run } = openCli();
const serve = useServers(afterEach);
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const whkId = expect.stringMatching(/^whk_[0-9a-z]{26}$/);
const unknownId = "whk_00000000000000000000000000";
const unknownEvent = "evt_00000000000000000000000000";
const loopback = ["--url", "http://127.0.0.1:9/hooks", "--allow-private"];

afterAll(closeReceivers);

/** A webhook of another store. */
let theirs: string;

interface Added {
  webhook_id: string;
  secret: string;
}

const add = (...args: string[]) => json<Added & Record<string, unknown>>("webhook", "add", "-n", "demo", ...args);
const remove = (id: string, ...args: string[]) => json("webhook", "remove", "-n", "demo", id, "--yes", ...args);

beforeAll(async () => {
  await json("tenant", "create", "demo");
  await json("tenant", "create", "other");
  theirs = (await json<Added>("webhook", "add", "-n", "other", ...loopback)).webhook_id;
});

test("webhook test signs a sample of each type, and prints the receiver's answer", async () => {
  const receiver = await openReceiver((response, { body }) => {
    if (body.type === "order.paid") response.writeHead(422, { "Content-Type": "text/plain" }).end("unknown order");
    else response.writeHead(200).end("thanks");
  });
  const { webhook_id: id, secret } = await add("--url", receiver.url, "--allow-private", "--types", "user.*");
  for (const type of eventTypes.filter((one) => one !== "order.paid")) {
    const sent = await json("webhook", "test", "-n", "demo", id, "--type", type);
    expect(sent).toMatchObject({ status: 200, error: null, answer: "thanks", type, duration_ms: expect.any(Number) });
    const message = receiver.received.at(-1) as (typeof receiver.received)[number];
    expect(message.signature).toBe(expectedSignature(secret, message));
    expect(message.body).toMatchObject({ id: sent.event_id as string, type, namespace: "demo" });
    expect(message.id).toBe(message.body.id);
  }
  const refused = await run(["webhook", "test", "-n", "demo", receiver.url, "--type", "order.paid"]);
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringMatching(/^Status +422$/m)]);
  expect(refused.stdout).toMatch(/^Answer +unknown order$/m);
  const { data } = receiver.received.at(-1)?.body ?? { data: {} };
  expect(data).toMatchObject({ number: 17, status: "paid", payment_status: "paid", currency: "EUR" });
  expect((await failure("webhook", "test", "-n", "demo", id, "--type", "order.*")).error.details?.[0]?.flag).toBe(
    "--type",
  );
  // Neither the feed nor the webhook's counts have the samples.
  expect(await json("webhook", "show", "-n", "demo", id)).toMatchObject({ waiting: 0, delivered: 0, failed: 0 });
  await receiver.close();
  const gone = await run(["webhook", "test", "-n", "demo", id, "--type", "user.created", "--json"]);
  expect([gone.code, JSON.parse(gone.stdout)]).toMatchObject([
    1,
    { status: null, error: expect.stringMatching(/refused/i) },
  ]);
  await remove(id);
});

test("webhook add prints the secret once, list shows the state, and remove deletes the webhook", async () => {
  const added = await add("--url", "https://1.1.1.1/hooks", "--types", "order.*", "--types", "stock.changed");
  const record = {
    webhook_id: whkId,
    namespace: "demo",
    url: "https://1.1.1.1/hooks",
    types: ["order.*", "stock.changed"],
    allow_private: false,
    created_at: timestamp,
  };
  const secret = expect.stringMatching(/^whsec_\S{44}$/);
  expect(added).toEqual({ ...record, secret } as unknown as Added & Record<string, unknown>);
  expect(Object.keys(added)).toEqual([...Object.keys(record), "secret"]);
  const counts = { waiting: 0, delivered: 0, failed: 0, last_delivered_at: null, last_error: null };
  expect(await json<unknown[]>("webhook", "list", "-n", "demo")).toEqual([{ ...record, ...counts }]);
  expect(await json<unknown[]>("webhook", "list", "-n", "other")).toMatchObject([{ webhook_id: theirs }]);
  expect(await json("webhook", "show", "-n", "demo", record.url)).toEqual({ ...record, ...counts });
  const table = await run(["webhook", "list", "-n", "demo"]);
  expect(table.stdout).toContain("order.*, stock.changed");
  expect(table.stdout).not.toContain("whsec_");
  expect(await json<unknown[]>("webhook", "deliveries", "-n", "demo", added.webhook_id)).toEqual([]);
  const rotated = await json<Added>("webhook", "rotate", "-n", "demo", added.webhook_id, "--yes");
  expect(rotated.secret).not.toBe(added.secret);
  expect(await remove(added.webhook_id)).toEqual(record);
  expect(await json<unknown[]>("webhook", "list", "-n", "demo")).toEqual([]);
  const acts = await json<{ event: string; subject: string }[]>("audit", "list", "-n", "demo");
  const own = acts.filter(({ subject }) => subject === added.webhook_id).map(({ event }) => event);
  expect(own).toEqual(["webhook.removed", "webhook.rotated", "webhook.added"]);
  expect(JSON.stringify(acts)).not.toContain("whsec_");
});

for (const [what, args, flag] of [
  ["a private address", ["--url", "https://10.0.0.1/"], "--url"],
  ["no URL", [], "--url"],
] as const) {
  test(`webhook add refuses ${what} with exit code 2 and names the flag`, async () => {
    const { code, error } = await failure("webhook", "add", "-n", "demo", ...args);
    expect({ code, field: error.details?.[0]?.flag ?? error.details?.[0]?.field }).toEqual({ code: 2, field: flag });
  });
}

for (const [command, ...args] of [
  ["remove", "--yes"],
  ["rotate", "--yes"],
  ["replay", "--event", unknownEvent],
] as const) {
  test(`${[command, ...args].join(" ")} of an unknown webhook, or one of another store, ends with exit code 3`, async () => {
    for (const id of [unknownId, theirs]) {
      expect(await failure("webhook", command, "-n", "demo", id, ...args)).toMatchObject({
        code: 3,
        error: { code: 5301 },
      });
    }
  });
}

test("webhook replay requires exactly one choice, and an event that still exists", async () => {
  const { webhook_id } = await add(...loopback);
  for (const choice of [[], ["--failed", "--after", unknownEvent]]) {
    expect((await failure("webhook", "replay", "-n", "demo", webhook_id, ...choice)).code).toBe(2);
  }
  expect(await json("webhook", "replay", "-n", "demo", webhook_id, "--failed")).toEqual({ replayed: 0 });
  const unknown = await failure("webhook", "replay", "-n", "demo", webhook_id, "--after", unknownEvent);
  expect(unknown).toMatchObject({ code: 3, error: { message: expect.stringContaining(unknownEvent) } });
  await remove(webhook_id);
});

test("a server with two workers sends each event once, and again after webhook replay", async () => {
  const { environment, json } = openCli();
  await json("tenant", "create", "demo");
  const receiver = await openReceiver();
  const { webhook_id, secret } = await json<Added>(
    ...["webhook", "add", "-n", "demo", "--url", receiver.url, "--allow-private"],
  );
  const key = await json<{ app_id: string; app_secret: string }>(
    ...["key", "issue", "-n", "demo", "--name", "web", "--publish"],
  );
  const server = await serve(["serve", "--port", "0", "--workers", "2"], { env: environment() });
  for (let i = 0; i < 3; i++) {
    const made = await fetch(`${server.url}/products/?namespace=demo`, {
      method: "POST",
      headers: { authorization: `Bearer ${key.app_id}:${key.app_secret}`, "content-type": "application/json" },
      body: JSON.stringify({ title: "Lamp", price: 19 }),
    });
    expect(made.status).toBe(201);
  }
  const deliveries = () =>
    json<{ event_id: string; status: string }[]>("webhook", "deliveries", "-n", "demo", webhook_id);
  await until("all is delivered", async () => {
    const all = await deliveries();
    return all.length === 3 && all.every(({ status }) => status === "delivered");
  });
  expect(receiver.received).toHaveLength(3);
  for (const message of receiver.received) expect(message.signature).toBe(expectedSignature(secret, message));
  const event = (await deliveries())[0]?.event_id as string;
  expect(await json("webhook", "replay", "-n", "demo", webhook_id, "--event", event)).toEqual({ replayed: 1 });
  await until("it came again", () => receiver.received.length === 4);
  expect(receiver.received.filter(({ id }) => id === event)).toHaveLength(2);
  expect((await server.end()).valueOf()).toBe(0);
});
