import { expect, test } from "bun:test";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { openShop, useBinaries } from "../support/binary.ts";
import { findInFiles } from "../support/find-in-files.ts";
import { ofProduct } from "../support/reactions.ts";
import type { Serving } from "../support/serving.ts";
import { until } from "../support/until.ts";
import { defaultDataDir } from "./load.ts";
import { childrenOf } from "./processes.ts";

const { installBinary } = useBinaries();

/** Number of calls. For a thorough run: BODEGA_TEST_VIEWS=100000 bun test test/binary/view-storm.test.ts */
const calls = Number(process.env.BODEGA_TEST_VIEWS ?? 500);
const visitors = 180;
const strangers = 20;
const lanes = 64;
const timeoutMs = 30_000 + calls;

interface Answer {
  status: number;
  data: { active: boolean; count: number; visitor?: string };
}

/** Starts a shop with one product, in which callers choose their address. */
async function serveShop() {
  const binary = installBinary();
  const { namespace, auth } = await openShop(binary);
  const serve = () => binary.serve("--workers", "2", "--trusted-proxy", "127.0.0.1/32");
  const headers = { authorization: auth, "content-type": "application/json" };
  const dataDir = defaultDataDir(binary.dir);
  let server = await serve();

  async function ask(method: string, path: string, body?: object, more: Record<string, string> = {}): Promise<Answer> {
    const init = { method, headers: { ...headers, ...more }, ...(body && { body: JSON.stringify(body) }) };
    const reply = await fetch(`${server.url}${path}${path.includes("?") ? "&" : "?"}namespace=${namespace}`, init);
    return { status: reply.status, data: ((await reply.json()) as Answer).data };
  }

  const product = (await ask("POST", "/products/", { title: "Lamp", price: 1 })).data as unknown as { id: string };
  const named = ofProduct(product.id);
  return {
    dataDir,
    productId: product.id,
    get server() {
      return server;
    },
    async restart() {
      server = await serve();
    },
    view: (visitor?: string) => ask("POST", "/views/", { ...named, ...(visitor !== undefined && { visitor }) }),
    viewFrom: (number: number) => ask("POST", "/views/", named, strangerHeaders(number)),
    readFrom: (number: number) =>
      ask("GET", `/views/?${new URLSearchParams(named)}`, undefined, strangerHeaders(number)),
    like: () => ask("POST", "/likes/", named),
  };
}

/** Headers with a unique address and user agent, for which the test searches later. */
function strangerHeaders(number: number): Record<string, string> {
  return {
    "x-forwarded-for": `203.0.${number >> 8}.${number & 255}`,
    "user-agent": `Unmistakable/${number} (Peculiar)`,
  };
}

/** Runs `next` in `count` concurrent loops until it returns undefined. A loop ends when its connection is lost. */
async function runLanes(count: number, next: () => Promise<void> | undefined): Promise<void> {
  const lane = async () => {
    for (;;) {
      const work = next();
      if (work === undefined) return;
      await work;
      // The processors must have time for the servers, and for other tests.
      await Bun.sleep(10);
    }
  };
  await Promise.all(Array.from({ length: count }, () => lane().catch(() => {})));
}

/** Reads the views in each table, and the likes. No server may be running. */
async function inspect(dataDir: string) {
  const database = await openStoreDatabase({ dataDir });
  try {
    const read = async (sql: string) => (await database.execute(sql)).rows.map((row) => row[0]);
    const [integrity] = await read("pragma integrity_check");
    const views = await read(
      `select count(*) from view_dedup_keys union all select sum(views) from view_days
        union all select views from resource_counts union all select views_count from products`,
    );
    return { integrity, views, likers: new Set(await read("select actor from reactions where kind = 'like'")) };
  } finally {
    await database.close();
  }
}

/** Finds addresses and user agents in the files of a data directory. There must be none. */
const strangersIn = (dataDir: string) => findInFiles(dataDir, ["203.0.", "Unmistakable", "Peculiar"]);

function killAll(server: Serving): Promise<number> {
  for (const pid of [server.pid, ...childrenOf(server.pid)]) process.kill(pid, "SIGKILL");
  return server.exited;
}

/** The id at the beginning of a visitor's token. */
const idOf = ({ data }: Answer) => data.visitor?.slice(0, 30) as string;

test(
  `${calls} views by ${visitors} visitors and ${strangers} strangers count each viewer only once, and no file contains an address or user agent`,
  async () => {
    const shop = await serveShop();
    const tokens: string[] = [];
    let left = visitors;
    await runLanes(lanes, () => {
      if (left-- <= 0) return undefined;
      return shop.like().then(({ data }) => void tokens.push(data.visitor as string));
    });
    expect(new Set(tokens).size).toBe(visitors);
    const statuses = new Map<string, number>();
    let at = 0;
    await runLanes(lanes, () => {
      if (at >= calls) return undefined;
      const who = (at++ * 7) % (visitors + strangers);
      const call = who < visitors ? shop.view(tokens[who]) : shop.viewFrom(who);
      return call.then(({ status, data }) => {
        const kind = `${status} ${data?.active}`;
        statuses.set(kind, (statuses.get(kind) ?? 0) + 1);
      });
    });
    expect([...statuses]).toEqual([["200 true", calls]]);
    expect(findInFiles(shop.dataDir, [shop.productId])).not.toEqual([]);
    await until("all views", async () => (await shop.view(tokens[0])).data.count === visitors + strangers);
    expect(strangersIn(shop.dataDir)).toEqual([]);
    expect(await shop.server.end()).toBe(0);
    const { integrity, views, likers } = await inspect(shop.dataDir);
    expect([integrity, likers.size]).toEqual(["ok", visitors]);
    expect(views).toEqual(Array(4).fill(visitors + strangers));
    expect(strangersIn(shop.dataDir)).toEqual([]);
  },
  timeoutMs,
);

test(
  "SIGTERM during many views loses no acknowledged view",
  async () => {
    const shop = await serveShop();
    let sent = 0;
    let answered = 0;
    const storm = runLanes(lanes, () => {
      const number = sent++;
      return shop.viewFrom(number).then(({ status }) => {
        if (status === 200) answered += 1;
      });
    });
    // The number of views is random, so that the signal comes before, between and during writes of the buffer.
    const enough = 100 + Math.random() * 500;
    await until("some views", () => answered > enough);
    expect(await shop.server.end()).toBe(0);
    await storm;
    const { views } = await inspect(shop.dataDir);
    expect(new Set(views).size).toBe(1);
    expect(Number(views[0])).toBeGreaterThanOrEqual(answered);
    expect(Number(views[0])).toBeLessThanOrEqual(sent);
  },
  timeoutMs,
);

test(
  "kill -9 during many views and likes loses at most the views of one second, and no like",
  async () => {
    const shop = await serveShop();
    const viewed: { number: number; at: number }[] = [];
    const liked: string[] = [];
    let sent = 0;
    const next = () => {
      const number = sent++;
      if (number % 4 === 0) return shop.like().then((answer) => void liked.push(idOf(answer)));
      return shop.viewFrom(number).then(({ status }) => {
        if (status === 200) viewed.push({ number, at: performance.now() });
      });
    };
    // Sends many views at once, then fewer, until the first views are more than a second old.
    const storm = Promise.all([runLanes(4, next), runLanes(8, () => (viewed.length > 300 ? undefined : next()))]);
    const isOld = ({ at }: { at: number }) => at < performance.now() - 1000;
    await until("views that are older than a second", () => viewed.filter(isOld).length > 150 && liked.length > 100);
    const killed = performance.now();
    await killAll(shop.server);
    await storm;
    expect(liked.length).toBeGreaterThan(100);
    const { integrity, views, likers } = await inspect(shop.dataDir);
    expect(integrity).toBe("ok");
    expect(liked.filter((id) => !likers.has(id))).toEqual([]);
    expect(new Set(views).size).toBe(1);

    await shop.restart();
    const settled = viewed.filter(({ at }) => at < killed - 1000).map(({ number }) => number);
    expect(settled.length).toBeGreaterThan(100);
    const lost: number[] = [];
    await runLanes(lanes, () => {
      const number = settled.pop();
      if (number === undefined) return undefined;
      return shop.readFrom(number).then(({ data }) => {
        if (!data.active) lost.push(number);
      });
    });
    expect([settled, lost]).toEqual([[], []]);
    expect(await shop.server.end()).toBe(0);
    expect(strangersIn(shop.dataDir)).toEqual([]);
  },
  timeoutMs,
);
