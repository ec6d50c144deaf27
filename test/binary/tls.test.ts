import { describe, expect, test } from "bun:test";
import { chmodSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { openShop, useBinaries } from "../support/binary.ts";
import { type MadeCertificate, makeCertificate } from "../support/make-certificate.ts";
import type { Serving } from "../support/serving.ts";
import { until } from "../support/until.ts";
import { childrenOf } from "./processes.ts";

const { installBinary, makeDir } = useBinaries();

/** Writes a pair as programs that renew certificates do: each file at once, one after the other. */
function writePair(dir: string, { cert, key }: MadeCertificate): string[] {
  const paths = { cert: join(dir, "cert.pem"), key: join(dir, "key.pem") };
  writeFileSync(`${paths.key}.new`, key, { mode: 0o600 });
  writeFileSync(`${paths.cert}.new`, cert);
  renameSync(`${paths.key}.new`, paths.key);
  renameSync(`${paths.cert}.new`, paths.cert);
  return ["--tls-cert", paths.cert, "--tls-key", paths.key];
}

/** A new connection with the handshake behind it. */
function open(port: number): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => resolve(socket));
  socket.on("error", reject);
  return promise;
}

/** Asks on a connection, and reads until the whole answer is there. */
async function ask(socket: TLSSocket, head = "HTTP/1.1\r\nHost: localhost"): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = "";
  const onData = (chunk: Buffer) => {
    text += chunk.toString();
    if (text.endsWith("}")) resolve(text);
  };
  const onClose = () => reject(new Error(`closed after ${JSON.stringify(text)}`));
  socket.on("data", onData).on("close", onClose);
  socket.write(`GET /health/live ${head}\r\n\r\n`);
  const answer = await promise;
  socket.off("data", onData).off("close", onClose);
  return answer;
}

async function presentedBy(port: number): Promise<string> {
  const socket = await open(port);
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

/** Has the server look at its files now; a supervisor may signal all of its processes. */
function hangUp(server: Serving): void {
  server.signal("SIGHUP");
  for (const pid of childrenOf(server.pid)) process.kill(pid, "SIGHUP");
}

describe.each([1, 2])("with %d worker(s)", (workers) => {
  test("the certificate is exchanged under load: no connection fails, those that stand are answered, and the shop is served", async () => {
    const [binary, dir, first] = [installBinary(), makeDir(), makeCertificate()];
    const { auth } = await openShop(binary);
    const server = await binary.serve("--workers", String(workers), ...writePair(dir, first));
    expect(server.url).toBe(`https://127.0.0.1:${server.port}`);
    const list = await fetch(`${server.url}/products/?namespace=demo`, {
      headers: { authorization: auth },
      tls: { ca: first.cert },
    });
    expect(list.status).toBe(200);

    const kept = await open(server.port);
    expect(await ask(kept)).toStartWith("HTTP/1.1 200");
    let isOver = false;
    const failures: unknown[] = [];
    const clients = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        try {
          const socket = await open(server.port);
          await ask(socket);
          socket.destroy();
        } catch (error) {
          failures.push(error);
        }
      }
    });
    const exchanges = 3;
    for (let round = 0; round < exchanges; round++) {
      const next = makeCertificate();
      writePair(dir, next);
      hangUp(server);
      await until("the next certificate everywhere", async () => {
        const seen = await Promise.all(Array.from({ length: 4 * workers }, () => presentedBy(server.port)));
        return seen.every((fingerprint) => fingerprint === next.fingerprint);
      });
      if (round > 0) continue;
      expect(await ask(kept)).toMatch(/^HTTP\/1\.1 200[\s\S]*\r\nconnection: close\r\n/i);
    }
    isOver = true;
    await Promise.all(clients);
    kept.destroy();
    expect(failures).toEqual([]);
    expect(await server.end()).toBe(0);
    expect(server.log().match(/INFO certificate for localhost, 127\.0\.0\.1 until /g)?.length).toBe(1 + exchanges);
  }, 30_000);
});

test("a pair that does not belong together leaves the one before, and a change is taken without a signal", async () => {
  const [binary, dir, first] = [installBinary(), makeDir(), makeCertificate()];
  const server = await binary.serve(...writePair(dir, first));
  writeFileSync(join(dir, "key.pem"), makeCertificate().key);
  server.signal("SIGHUP");
  await until("the log's warning", () => /WARN The key in .*key\.pem is not that of/.test(server.log()));
  expect(await presentedBy(server.port)).toBe(first.fingerprint);
  const next = makeCertificate();
  writePair(dir, next);
  await until("the next certificate", async () => (await presentedBy(server.port)) === next.fingerprint);
  expect(await server.end()).toBe(0);
}, 30_000);

test.each([1, 2])(
  "a certificate that becomes a pipe is refused, and holds up no stop, with %d worker(s)",
  async (workers) => {
    const [binary, dir] = [installBinary(), makeDir()];
    const server = await binary.serve("--workers", String(workers), ...writePair(dir, makeCertificate()));
    const path = join(dir, "cert.pem");
    rmSync(path);
    Bun.spawnSync(["mkfifo", path]);
    await until("the log's warning", () => server.log().includes(`WARN ${path} is no file`));
    expect(await server.end()).toBe(0);
  },
  20_000,
);

test("workers that take the place of others present what those did, even while the files are broken", async () => {
  const [binary, dir, next] = [installBinary(), makeDir(), makeCertificate()];
  const server = await binary.serve("--workers", "2", ...writePair(dir, makeCertificate()));
  writePair(dir, next);
  await until("the next certificate", async () => (await presentedBy(server.port)) === next.fingerprint);
  writeFileSync(join(dir, "cert.pem"), "broken");
  const workers = childrenOf(server.pid);
  for (const worker of workers) process.kill(worker, "SIGKILL");
  await until("others", () => childrenOf(server.pid).filter((pid) => !workers.includes(pid)).length === 2);
  const seen = await until("an answer", () => presentedBy(server.port).catch(() => null));
  expect(seen).toBe(next.fingerprint);
  expect(await server.end()).toBe(0);
}, 20_000);

test("routes are found whatever host is asked for", async () => {
  const binary = installBinary();
  const server = await binary.serve(...writePair(makeDir(), makeCertificate()));
  for (const head of ["HTTP/1.0", "HTTP/1.1\r\nHost: a", "HTTP/1.1\r\nHost: shop", "HTTP/1.1\r\nHost: [::1]:8443"]) {
    const socket = await open(server.port);
    expect(await ask(socket, head)).toMatch(/^HTTP\/1\.[01] 200/);
    socket.destroy();
  }
  expect(await server.end()).toBe(0);
});

test("what cannot be served is refused before anything is touched; what is only unwise is said, and served", async () => {
  const [binary, dir] = [installBinary(), makeDir()];
  const flags = writePair(dir, { ...makeCertificate(), key: makeCertificate().key });
  const refused = await binary.run("serve", "--port", "0", ...flags);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain(`The key in ${join(dir, "key.pem")} is not that of`);

  const day = 86_400_000;
  writePair(dir, makeCertificate({ from: Date.now() - 90 * day, until: Date.now() - day }));
  chmodSync(join(dir, "key.pem"), 0o644);
  const server = await binary.serve(...flags, "--public-url", "https://shop.example.com");
  await until("all warnings", () => server.log().match(/WARN/g)?.length === 3);
  expect(server.log()).toContain("has ended on");
  expect(server.log()).toContain("is for localhost, 127.0.0.1, and --public-url is https://shop.example.com");
  expect(server.log()).toContain("is open to every account");
  expect(await server.end()).toBe(0);
}, 20_000);
