import { beforeAll, expect, test } from "bun:test";
import { openCli } from "./run-bodega.ts";

const { json, failure, here: run } = openCli();
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const msgId = expect.stringMatching(/^msg_[0-9a-z]{26}$/);
const unknownDevice = "reg_00000000000000000000000000";
const text = ["--title", "Sale", "--body", "Lamps for half"];
const none = { waiting: 0, sent: 0, failed: 0, dropped: 0, expired: 0 };

interface Sent {
  message_id: string;
  [field: string]: unknown;
}
const send = (...args: string[]) => json<Sent>("notify", "send", "-n", "demo", ...text, ...args);

/** A device of another store. */
let theirs: string;
let ada: string;

beforeAll(async () => {
  await json("tenant", "create", "demo");
  await json("tenant", "create", "other");
  theirs = (await json<Sent>("notify", "send", "-n", "other", ...text, "--topic", "sale")).message_id;
  ada = (await json<{ user_id: string }>("user", "create", "-n", "demo", "--email", "ada@example.com", "--no-password"))
    .user_id;
});

test("notify send queues a message, notify show and list print its state, and the audit log does not contain its text", async () => {
  const { json, here: run } = openCli();
  await json("tenant", "create", "demo");
  const sent = await json<Sent>(
    ...["notify", "send", "-n", "demo", ...text, "--topic", "sale", "--url", "/sale"],
    ...["--data", "campaign=7", "--data", "a=b=c", "--ttl", "1h"],
  );
  const parts = {
    message_id: msgId,
    title: "Sale",
    body: "Lamps for half",
    url: "/sale",
    data: { campaign: "7", a: "b=c" },
    topic: "sale",
    user_id: null,
    lang: null,
    created_at: timestamp,
    expires_at: timestamp,
  };
  expect(sent).toEqual({ ...parts, recipients: { web: 0, ios: 0, android: 0 }, undeliverable: [] } as never);
  expect(Date.parse(String(sent.expires_at)) - Date.parse(String(sent.created_at))).toBe(3_600_000);
  const shown = await json<Sent>("notify", "show", "-n", "demo", sent.message_id);
  expect(shown).toEqual({ ...parts, is_complete: false, deliveries: none } as never);
  const sheet = (await run(["notify", "show", "-n", "demo", sent.message_id])).stdout;
  expect(sheet).toMatch(/^Is complete +no\nDeliveries +waiting 0, sent 0, failed 0, dropped 0, expired 0$/m);
  expect(Object.keys(shown)).toEqual([...Object.keys(parts), "is_complete", "deliveries"]);
  expect(await json<unknown[]>("notify", "list", "-n", "demo")).toEqual([shown]);
  const table = (await run(["notify", "list", "-n", "demo"])).stdout;
  for (const word of [sent.message_id, "topic sale", "Sale", "none"]) expect(table).toContain(word);
  expect((await run(["notify", "list", "-n", "demo", "-q"])).stdout).toBe(`${sent.message_id}\n`);
  const acts = await json<{ event: string; subject: string }[]>("audit", "list", "-n", "demo");
  expect(acts.filter(({ event }) => event === "notification.sent").map(({ subject }) => subject)).toEqual([
    sent.message_id,
  ]);
  expect(JSON.stringify(acts)).not.toContain("Lamps");
});

test("a message can be sent to one user, by id or email", async () => {
  for (const user of [ada, "ada@example.com"]) {
    expect(await send("--user", user, "--lang", "pt-br")).toMatchObject({ user_id: ada, topic: null, lang: "pt-BR" });
  }
  const line = ["notify", "send", "-n", "demo", ...text, "--user", ada];
  expect((await run(line)).stderr).toContain("No device matches.");
  const unknown = await failure("notify", "send", "-n", "demo", ...text, "--user", "eve@example.com");
  expect(unknown).toMatchObject({ code: 3, error: { code: 5301 } });
});

test("notify send --dry-run checks the message and counts devices, without a confirmation, and sends nothing", async () => {
  const before = await json<unknown[]>("notify", "list", "-n", "demo");
  expect(await send("--everyone", "--dry-run")).toMatchObject({ message_id: null });
  const { stdout } = await run(["notify", "send", "-n", "demo", ...text, "--topic", "sale", "--dry-run", "-q"]);
  expect(stdout).toBe("");
  expect(await json<unknown[]>("notify", "list", "-n", "demo")).toEqual(before);
});

for (const [what, args, flag] of [
  ["no recipient", [...text], undefined],
  ["a topic and a user", [...text, "--topic", "sale", "--user", "ada@example.com"], undefined],
  ["no title", ["--body", "x", "--topic", "sale"], "--title"],
  ["a malformed topic", [...text, "--topic", "Sale!"], "--topic"],
  ["a plain http address", [...text, "--topic", "sale", "--url", "http://shop.example/"], "--url"],
  ["data without a name", [...text, "--topic", "sale", "--data", "x"], "--data"],
  ["half a minute", [...text, "--topic", "sale", "--ttl", "30s"], "--ttl"],
] as const) {
  test(`notify send refuses ${what} with exit code 2${flag ? ` and names ${flag}` : ""}`, async () => {
    const { code, error } = await failure("notify", "send", "-n", "demo", ...args);
    const { flag: named, field } = error.details?.[0] ?? {};
    expect({ code, flag: flag && (named ?? field) }).toEqual({ code: 2, flag });
  });
}

test("an unknown message or device, or one of another store, ends the command with exit code 3", async () => {
  for (const [verb = "", ...line] of [
    ["show", theirs],
    ["remove", unknownDevice, "--yes"],
  ]) {
    expect(await failure("notify", verb, "-n", "demo", ...line)).toMatchObject({ code: 3, error: { code: 5301 } });
  }
});

test("notify key always prints the same public key for browsers", async () => {
  const { vapid_public_key: key } = await json("notify", "key");
  expect(Buffer.from(String(key), "base64url")).toHaveLength(65);
  expect((await run(["notify", "key", "-q"])).stdout).toBe(`${key}\n`);
});
