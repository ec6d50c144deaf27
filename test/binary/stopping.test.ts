import { describe, expect, test } from "bun:test";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { isServerRunning } from "../../src/server/db/local/file-lock.ts";
import { readServerStatus } from "../../src/server/monitoring/listeners.ts";
import { openShop, useBinaries } from "../support/binary.ts";
import { findPort } from "../support/port.ts";
import { formatHead, type RawConnection } from "../support/raw-http.ts";
import type { Serving } from "../support/serving.ts";
import { until } from "../support/until.ts";
import { call, checkAnswer } from "./calls.ts";
import { defaultDataDir, inspectDatabase, startLoad } from "./load.ts";
import { childrenOf, isRunning } from "./processes.ts";

const { installBinary } = useBinaries();

const path = "/products/?namespace=demo";
const lamp = '{"title":"Lamp","price":19.99}';
const timeoutMs = 30_000;

interface InFlight {
  on: RawConnection;
  finish: () => void;
}

/** Begins a request: the server has its headers, and waits for the rest of the body. */
async function beginRequest(server: Serving, authorization: string): Promise<InFlight> {
  const on = server.connect();
  const headers = {
    authorization,
    "content-type": "application/json",
    "content-length": String(lamp.length),
    expect: "100-continue",
  };
  on.write(formatHead({ head: `POST ${path} HTTP/1.1`, headers }));
  expect(await on.read()).toMatchObject({ status: 100 });
  on.write(lamp.slice(0, 10));
  return { on, finish: () => on.write(lamp.slice(10)) };
}

/** Starts a server with a shop, and begins requests on several connections. */
async function serveInFlight(...flags: string[]) {
  const binary = installBinary();
  const { auth } = await openShop(binary);
  // The server gets its own process group, as terminals and supervisors do it.
  const server = await binary.serveBy(["setsid", binary.path, "serve", "--port", "0", ...flags]);
  // With so many requests, both workers have some. A worker without requests would end and be replaced before its
  // parent stops.
  const requests = await Promise.all(Array.from({ length: 16 }, () => beginRequest(server, auth)));
  return { binary, auth, server, requests };
}

/** Sends the rest of all requests. All must get their normal replies. */
async function finishAll(requests: InFlight[]): Promise<void> {
  for (const { finish } of requests) finish();
  for (const { on } of requests) {
    const reply = await on.read();
    expect(reply && checkAnswer("POST", reply)).toMatchObject({ status: 201 });
  }
}

async function takesNoConnections(server: Serving): Promise<void> {
  await until("the end of listening", () =>
    fetch(`${server.url}/health/live`, { keepalive: false }).then(
      () => false,
      () => true,
    ),
  );
}

/** Waits until the server accepts no new connections and has sent a signal to all its processes. */
async function hasBegunToStop(server: Serving): Promise<void> {
  await until("the line of the log", () => /SIG\w+: .*finish/.test(server.log()));
  await takesNoConnections(server);
}

describe.concurrent("a stopping server finishes its running requests", () => {
  const ways: [how: string, workers: number, stop: (server: Serving) => unknown][] = [
    ["after SIGTERM to a server with one worker", 1, (server) => server.signal("SIGTERM")],
    ["after Ctrl-C, which reaches the workers as well", 2, (server) => process.kill(-server.pid, "SIGINT")],
    [
      "after SIGTERM to every process separately, as supervisors may send it",
      2,
      async (server) => {
        for (const worker of childrenOf(server.pid)) process.kill(worker, "SIGTERM");
        await takesNoConnections(server);
        server.signal("SIGTERM");
      },
    ],
  ];
  test.each(ways)(
    "%s, and the exit code is 0",
    async (_how, workers, stop) => {
      const { server, requests } = await serveInFlight("--workers", String(workers));
      await stop(server);
      await hasBegunToStop(server);
      await finishAll(requests);
      expect(await server.exited).toBe(0);
    },
    timeoutMs,
  );

  test(
    "a second signal ends the server at once",
    async () => {
      const { server, requests } = await serveInFlight();
      server.signal("SIGTERM");
      await hasBegunToStop(server);
      // The server ignores a second signal within half a second.
      const impatient = setInterval(() => server.signal("SIGTERM"), 100);
      expect(await server.exited).toBe(143);
      clearInterval(impatient);
      for (const { on } of requests) expect(await on.read()).toBeNull();
    },
    timeoutMs,
  );
});

test.concurrent(
  "after a signal, a request on an open connection gets its reply and Connection: close",
  async () => {
    const binary = installBinary();
    const { auth: authorization } = await openShop(binary);
    const server = await binary.serve("--workers", "2");
    const connections = Array.from({ length: 8 }, () => server.connect());
    const ask = (on: RawConnection) => call(on, { path, headers: { authorization } });
    for (const on of connections) expect((await ask(on)).headers.get("connection")).not.toBe("close");
    server.signal("SIGTERM");
    await until("the line of the log", () => server.log().includes("SIGTERM: finishing"));
    // A worker gets the signal a moment after the line is logged, so it may still answer some requests normally.
    const askUntilClose = async (on: RawConnection): Promise<void> => {
      const { status, headers } = await ask(on);
      expect(status).toBe(200);
      if (headers.get("connection") !== "close") await askUntilClose(on);
    };
    await Promise.all(connections.map(askUntilClose));
    await Promise.all(connections.map((on) => on.closed));
    expect(await server.exited).toBe(0);
  },
  timeoutMs,
);

/** Opens a connection for each request until `work` has ended. Returns how they ended. */
async function askDuring(port: number, work: () => Promise<void>): Promise<Set<string>> {
  const ends = new Set<string>();
  let isOver = false;
  const clients = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      ends.add(await askOnce(port));
      // The processors must have time for the servers.
      await Bun.sleep(5);
    }
  });
  await work();
  isOver = true;
  await Promise.all(clients);
  return ends;
}

// Only Linux can ignore new connections.
describe.skipIf(process.platform !== "linux")("a server whose clients open a connection for each request", () => {
  test(
    "a server resets no connection while it restarts, even if clients open a connection for each request",
    async () => {
      const binary = installBinary();
      await openShop(binary);
      const port = findPort();
      let server = await binary.serve("--port", String(port));
      const ends = await askDuring(port, async () => {
        expect(await server.end()).toBe(0);
        server = await binary.serve("--port", String(port));
      });
      // On a busy machine, the next server may start late.
      ends.delete("ECONNREFUSED");
      expect([...ends]).toEqual(["HTTP/1.1 200"]);
      expect(await server.end()).toBe(0);
    },
    timeoutMs,
  );

  test.each([1, 2])(
    "while new processes replace the old ones with %d worker(s), also before the first of them answers, no connection is refused or reset, and no acknowledged write is lost",
    async (workers) => {
      const binary = installBinary();
      const { namespace, auth } = await openShop(binary);
      const server = await binary.serve("--port", String(findPort()), "--workers", String(workers));
      const dataDir = defaultDataDir(binary.dir);
      let pid = server.pid;
      const load = startLoad({ url: server.url, namespace, auth, clients: 4, persistent: true });
      const ends = await askDuring(server.port, async () => {
        process.kill(server.pid, "SIGUSR2");
        const next = await until(
          "the next process",
          () => /Process (\d+) replaces this one/.exec(server.log())?.[1] ?? null,
        );
        // This process does not answer yet. It restarts once it does.
        process.kill(Number(next), "SIGUSR2");
        pid = await until("its successor", async () => {
          const status = await readServerStatus(dataDir);
          return status && ![server.pid, Number(next)].includes(status.pid) ? status.pid : null;
        });
      });
      await load.stop();
      expect([...ends]).toEqual(["HTTP/1.1 200"]);
      expect(load.refused).toEqual([]);
      expect(await server.exited).toBe(0);
      process.kill(pid, "SIGTERM");
      await until("its end", async () => !(await isServerRunning(dataDir)));
      const { products } = await inspectDatabase(dataDir);
      expect(load.created.filter((id) => !products.has(id))).toEqual([]);
    },
    timeoutMs,
  );

  test.each([1, 2])(
    "a server with %d worker(s) that cannot restart continues without refusing or resetting a connection, and the log names the reason",
    async (workers) => {
      const binary = installBinary();
      await openShop(binary);
      const server = await binary.serve("--port", String(findPort()), "--workers", String(workers));
      const dataDir = defaultDataDir(binary.dir);
      const [key, settings] = [join(dataDir, "secret.key"), join(dataDir, "bodega.env")];
      const taken = createServer().listen(findPort(), "127.0.0.1");
      const { port } = taken.address() as AddressInfo;
      const acme = `BODEGA_ACME=shop.test\nBODEGA_HOST=127.0.0.1\nBODEGA_ACME_HTTP_PORT=${port}`;
      const refused = async (reason: string) => {
        const refusals = () => server.log().split("cannot start, so the present one goes on").length;
        const before = refusals();
        server.signal("SIGUSR2");
        await until(`the refusal: ${reason}`, () => refusals() > before);
        expect(server.log()).toContain(reason);
      };
      const ends = await askDuring(server.port, async () => {
        renameSync(key, `${key}.away`);
        await refused(`${key} is missing. Put the right secret.key`);
        writeFileSync(key, "x".repeat(32));
        await refused("made with another secret key");
        renameSync(`${key}.away`, key);
        for (const [text, reason] of [
          ["BODEGA_MEDIA=s3://pictures", "set BODEGA_S3_ACCESS_KEY_ID"],
          ["BODEGA_DATABASE_URL=http://127.0.0.1:1", "cannot be reached"],
          ["BODEGA_TLS_CERT=/none\nBODEGA_TLS_KEY=/none", "/none cannot be read"],
          [acme, `127.0.0.1:${port} is in use by another program. Stop it, or let it forward port 80`],
        ] as const) {
          writeFileSync(settings, text);
          await refused(reason);
        }
        rmSync(binary.path);
        await refused("");
      });
      taken.close();
      expect([...ends]).toEqual(["HTTP/1.1 200"]);
      expect(await server.end()).toBe(0);
    },
    timeoutMs,
  );
});

/** Sends a request on a new connection. Returns the beginning of the reply, or how the connection ended. */
function askOnce(port: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const head = formatHead({ head: "GET /health/live HTTP/1.1", headers: { connection: "close" } });
  let reply = "";
  connect(port, "127.0.0.1", function (this: { write(text: string): void }) {
    this.write(head);
  })
    .on("data", (chunk) => {
      reply += chunk;
    })
    .on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "error"))
    .on("close", () => resolve(reply.slice(0, 12) || "no reply"));
  return promise;
}

describe.concurrent("connections and workers that delay a stop", () => {
  test(
    "the log reports a worker that hangs and recovers; a second signal also ends a hanging worker",
    async () => {
      const binary = installBinary();
      await openShop(binary);
      const server = await binary.serve("--workers", "2");
      const workers = childrenOf(server.pid);
      const [hanging = 0] = workers;
      process.kill(hanging, "SIGSTOP");
      await until("the warning", () => server.log().includes(`(process ${hanging}) hangs`));
      process.kill(hanging, "SIGCONT");
      await until("its return", () => server.log().includes(`(process ${hanging}) answers again`));
      process.kill(hanging, "SIGSTOP");
      server.signal("SIGTERM");
      await until("the line of the log", () => server.log().includes("SIGTERM: "));
      const impatient = setInterval(() => server.signal("SIGTERM"), 100);
      expect(await server.exited).toBe(143);
      clearInterval(impatient);
      await until("the end of all workers", () => !workers.some(isRunning));
    },
    timeoutMs,
  );

  test(
    "a stopping server waits for a request without its body, but not for an idle connection or a slow reader, which gets its reply",
    async () => {
      const idle = await serveLongList();
      const idleConnection = idle.server.connect();
      await call(idleConnection, { path, headers: { authorization: idle.auth } });
      const slowReader = await askWithoutReading(idle.server, idle.auth);
      const stuck = await serveInFlight();
      for (const { server } of [stuck, idle]) server.signal("SIGTERM");
      let isStuck = true;
      void stuck.server.exited.then(() => {
        isStuck = false;
      });
      expect(await idle.server.exited).toBe(0);
      expect(isStuck).toBe(true);
      expect(await slowReader.readAll()).toBe(idle.replyBytes);
      expect(await stuck.server.exited).toBe(0);
      for (const { on } of stuck.requests) expect(await on.read()).toMatchObject({ status: 400 });
    },
    timeoutMs,
  );
});

/** Starts a server with the longest possible list of products. */
async function serveLongList() {
  const binary = installBinary();
  const { auth } = await openShop(binary);
  const server = await binary.serve();
  const headers = { authorization: auth, "content-type": "application/json" };
  const description = "x".repeat(50_000);
  const metadata = { note: "y".repeat(16_000) };
  const made = Array.from({ length: 20 }, (_, number) => {
    const body = JSON.stringify({ title: `Lamp ${number}`, price: number, description, metadata });
    return fetch(server.url + path, { method: "POST", headers, body }).then((reply) => reply.status);
  });
  expect(new Set(await Promise.all(made))).toEqual(new Set([201]));
  const whole = await fetch(`${server.url}${path}&limit=100`, { headers });
  return { auth, server, replyBytes: (await whole.arrayBuffer()).byteLength };
}

/** Requests the long list, and reads it only on request. Counts the bytes of the body. */
async function askWithoutReading(server: Serving, authorization: string) {
  let head = Buffer.alloc(0);
  let bytes = -1;
  const closed = Promise.withResolvers<void>();
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: server.port,
    socket: {
      open(opened) {
        opened.pause();
        opened.write(formatHead({ head: `GET ${path}&limit=100 HTTP/1.1`, headers: { authorization } }));
      },
      data(_, chunk) {
        if (bytes >= 0) bytes += chunk.length;
        else {
          head = Buffer.concat([head, chunk]);
          const end = head.indexOf("\r\n\r\n");
          if (end >= 0) bytes = head.length - end - 4;
        }
      },
      close: () => closed.resolve(),
      error: () => closed.resolve(),
    },
  });
  const line = `GET /products/ 200`;
  // Waits for the second line, because the first one is about the request that measured the reply.
  await until("the reply to be on its way", () => server.log().split(line).length > 2);
  return {
    async readAll(): Promise<number> {
      socket.resume();
      await closed.promise;
      return bytes;
    },
  };
}
