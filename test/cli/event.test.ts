import { afterAll, beforeAll, expect, test } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import { failureOf } from "../support/failure.ts";
import { until } from "../support/until.ts";
import { command, openCli, useServers } from "./run-bodega.ts";

const { json, failure, here, environment } = openCli();
const serve = useServers();
const demo = ["-n", "demo"];
const tails: Bun.Subprocess[] = [];
let app = { id: "", secret: "" };

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
  return { events: () => text.split("\n").flatMap((line) => (line ? [JSON.parse(line) as TailedEvent] : [])) };
}

/** Follows the stream of a server. `ended` rejects when the stream ends with an error. */
function follow(url: string, since: string) {
  const found: TailedEvent[] = [];
  const read = async () => {
    for await (const event of createClient({ url, namespace: "demo", app }).events({ since })) found.push(event);
  };
  const ended = read();
  ended.catch(() => {});
  return { events: () => found, ended };
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
  const [id = "", secret = ""] = stdout.trim().split(":");
  app = { id, secret };
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

test("event tail --follow prints the events of other processes, and streams of a server with two workers deliver them", async () => {
  const server = await serve(["serve", "--port", "0", "--workers", "2"], { env: environment() });
  const [first] = await feed();
  // The tails begin at the first event, because an event before their start would be lost.
  const begin = "2020-01-01T00:00:00Z";
  const since = ["--since", begin];
  const streams = [1, 2].map(() => follow(server.url, begin));
  const following = [tail(...since), ...streams];
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
  // When the key is revoked, the streams end with its error.
  await json("key", "revoke", app.id, "--yes");
  for (const { ended } of streams) expect(await failureOf(ended)).toMatchObject({ code: 5203 });
  expect(next.log()).not.toContain("ERROR");
}, 60_000);
