import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../support/until.ts";
import { command, makeDir, openCli, useServers } from "./run-bodega.ts";

const { json, failure, here, environment } = openCli();
const serve = useServers();
const demo = ["-n", "demo"];
const keyFile = join(makeDir(), "shop.key");
const tails: Bun.Subprocess[] = [];

interface TailedEvent {
  id: string;
  type: string;
  subject: string;
}

/** Starts `event tail -f`, and returns the events that it has printed. */
function tail(...flags: string[]) {
  const words = [...command, "event", "tail", "-f", "--json", ...demo, ...flags];
  const child = Bun.spawn(words, { env: environment(), stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  tails.push(child);
  let text = "";
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) text += decoder.decode(chunk, { stream: true });
  };
  void read();
  const events = () => text.split("\n").flatMap((line) => (line ? [JSON.parse(line) as TailedEvent] : []));
  return { child, events };
}

const create = async (title: string) =>
  (await json<{ product_id: string }>("product", "create", ...demo, "--title", title, "--price", "1")).product_id;
const feed = (...flags: string[]) => json<TailedEvent[]>("event", "tail", ...demo, ...flags);

beforeAll(async () => {
  await json("tenant", "create", "demo");
  const { stdout } = await here([
    "key",
    "issue",
    ...demo,
    ..."--name tail --scope events:read --publish -q".split(" "),
  ]);
  writeFileSync(keyFile, stdout);
  await create("First");
});

afterAll(() => {
  for (const child of tails) child.kill("SIGKILL");
});

test("event tail without --follow prints the events of the last day, or the events since a given time", async () => {
  const id = await create("Lamp");
  await json("category", "create", ...demo, "--title", "Lamps");
  const events = await feed("--types", "product.*");
  expect(events.at(-1)).toMatchObject({ type: "product.created", subject: id });
  expect(events.every(({ type }) => type.startsWith("product."))).toBe(true);
  expect(await feed("--since", "2020-01-01T00:00:00Z")).toHaveLength(events.length + 1);
  const { stdout } = await here(["event", "tail", ...demo, "--types", "category.created"]);
  expect(stdout).toMatch(/^CREATED +TYPE +SUBJECT +DATA\n.* category.created +cat_\w{26} +version 1\n$/);
  expect((await failure("event", "tail", ...demo, "--types", "lamp.lit")).error.message).toContain("--types");
});

test("event tail --follow prints events of other processes, both from the database and from a server with two workers", async () => {
  const server = await serve(["serve", "--port", "0", "--workers", "2"], { env: environment() });
  const [first] = await feed();
  // The tails begin at the first event, because an event before their start would be lost.
  const since = ["--since", "2020-01-01"];
  const remote = ["--url", server.url, "--key-file", keyFile];
  const following = [tail(...since), ...[1, 2].map(() => tail(...since, ...remote))];
  for (const { events } of following) await until("the first event", () => events()[0]?.id === first?.id);
  const made = [await create("One"), await create("Two")];
  for (const { events } of following) {
    await until("the last event", () => events().at(-1)?.subject === made[1]);
    expect(events()).toEqual(await feed(...since));
  }
  // The streams end at once with the server, and continue with the next server.
  const started = following.map(({ events }) => events().length);
  expect(await server.end()).toBe(0);
  expect(server.log()).not.toMatch(/abandoned/);
  const next = await serve(["serve", "--port", String(server.port)], { env: environment() });
  const third = await create("Three");
  for (const [index, { events }] of following.entries()) {
    await until("the event after the restart", () => events().at(-1)?.subject === third);
    expect(events()).toHaveLength((started[index] as number) + 1);
  }
  // When the key is revoked, the streams end, and the commands end with its error.
  const [key] = await json<{ app_id: string }[]>("key", "list", ...demo);
  await json("key", "revoke", key?.app_id as string, "--yes");
  for (const { child } of following.slice(1)) {
    expect(await child.exited).toBe(1);
    expect(JSON.parse(await child.stderr.text())).toMatchObject({ error: { code: 5203 } });
  }
  expect(next.log()).not.toContain("ERROR");
}, 60_000);

test("event tail --url needs a key, and refuses wrong addresses and keys", async () => {
  const bad = join(makeDir(), "bad.key");
  writeFileSync(bad, "secret\n");
  for (const flags of [
    ["--url", "http://127.0.0.1:9"],
    ["--url", "http://127.0.0.1:9?token=x", "--key-file", keyFile],
    ["--url", "http://127.0.0.1:9", "--key-file", bad],
  ]) {
    expect((await failure("event", "tail", ...demo, ...flags)).code).toBe(2);
  }
});
