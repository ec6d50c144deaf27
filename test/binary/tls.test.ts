import { expect, test } from "bun:test";
import { chmodSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { openShop, useBinaries } from "../support/binary.ts";
import { type MadeCertificate, makeCertificate } from "../support/make-certificate.ts";
import { largeRefusedRequest, writeThenRead } from "../support/raw-http.ts";
import { until } from "../support/until.ts";
import { childrenOf } from "./processes.ts";

const { installBinary, makeDir } = useBinaries();

/** Writes certificate and key as renewal tools do: one file after the other, each atomically. */
function writePair(dir: string, { cert, key }: MadeCertificate): string[] {
  const paths = { cert: join(dir, "cert.pem"), key: join(dir, "key.pem") };
  writeFileSync(`${paths.key}.new`, key, { mode: 0o600 });
  writeFileSync(`${paths.cert}.new`, cert);
  renameSync(`${paths.key}.new`, paths.key);
  renameSync(`${paths.cert}.new`, paths.cert);
  return ["--tls-cert", paths.cert, "--tls-key", paths.key];
}

/** Opens a connection and completes the handshake. */
function open(port: number): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => resolve(socket));
  socket.on("error", reject).on("close", () => reject(new ClosedError("")));
  return promise;
}

/** The error of a connection that the server closes before the reply is complete. */
class ClosedError extends Error {
  received: string;

  constructor(received: string) {
    super(`closed after ${JSON.stringify(received)}`);
    this.received = received;
  }
}

/** Sends a request on an open connection, and reads until `end`. */
async function send(socket: TLSSocket, request: string, end = "}"): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = "";
  const onData = (chunk: Buffer) => {
    text += chunk.toString();
    if (text.endsWith(end)) resolve(text);
  };
  const onClose = () => reject(new ClosedError(text));
  if (socket.closed) onClose();
  socket.on("data", onData).on("close", onClose);
  socket.write(request);
  const answer = await promise;
  socket.off("data", onData).off("close", onClose);
  return answer;
}

/** Sends a complete request on an open connection, and reads the whole reply. */
function ask(socket: TLSSocket, head = "HTTP/1.1\r\nHost: localhost"): Promise<string> {
  return send(socket, `GET /health/live ${head}\r\n\r\n`);
}

/**
 * Tries again on a new connection, as HTTP clients do, if the server closed the connection without a reply. Each worker
 * can close one when it replaces its listener.
 */
async function tryAgain<T>(listeners: number, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const isUnanswered = error instanceof ClosedError ? error.received === "" : true;
      if (attempt > listeners || !isUnanswered) throw error;
    }
  }
}

async function askOnNewConnection(port: number): Promise<string> {
  const socket = await open(port);
  const answer = await ask(socket);
  socket.destroy();
  return answer;
}

/** Begins to create a product: the server has the headers and needs the body. The returned function sends the body. */
async function beginCreating(port: number, auth: string): Promise<() => Promise<string>> {
  const body = JSON.stringify({ title: "Lamp", price: 12 });
  const head = [
    "POST /products/?namespace=demo HTTP/1.1",
    "Host: localhost",
    `Authorization: ${auth}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "Expect: 100-continue",
  ];
  const socket = await open(port);
  expect(await send(socket, `${head.join("\r\n")}\r\n\r\n`, "\r\n\r\n")).toStartWith("HTTP/1.1 100");
  socket.write(body.slice(0, 10));
  return () => send(socket, body.slice(10));
}

async function presentedBy(port: number): Promise<string> {
  const socket = await open(port);
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

test("a client that writes 20 MB before it reads, and then closes the connection, gets its error reply", async () => {
  const [binary, dir] = [installBinary(), makeDir()];
  await openShop(binary);
  const server = await binary.serve(...writePair(dir, makeCertificate()));
  for (const [line, code] of [
    ["POST /nowhere/", 5106],
    ["POST /products/?namespace=demo", 5203],
  ] as const) {
    const socket = await open(server.port);
    expect(await writeThenRead(socket, largeRefusedRequest(line))).toContain(`"code":${code}`);
  }
  await server.end();
});

test("two workers replace the certificate under load: all clients get replies, running requests finish, and new workers present the new certificate", async () => {
  const [binary, dir, first, workers] = [installBinary(), makeDir(), makeCertificate(), 2];
  const { auth } = await openShop(binary);
  const server = await binary.serve("--workers", String(workers), ...writePair(dir, first));
  expect(server.url).toBe(`https://127.0.0.1:${server.port}`);
  const list = await fetch(`${server.url}/products/?namespace=demo`, {
    headers: { authorization: auth },
    tls: { ca: first.cert },
  });
  expect(list.status).toBe(200);

  let isOver = false;
  let asked = 0;
  const failures: unknown[] = [];
  const clients = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      await tryAgain(workers, () => askOnNewConnection(server.port)).catch((error) => failures.push(error));
      asked += 1;
      // The processor must have time for the called server.
      await Bun.sleep(10);
    }
  });
  const inFlight = await Promise.all(
    Array.from({ length: 4 }, () => tryAgain(workers, () => beginCreating(server.port, auth))),
  );
  const next = makeCertificate();
  writePair(dir, next);
  await until("the next certificate everywhere", async () => {
    const seen = await Promise.all(
      Array.from({ length: 4 * workers }, () => tryAgain(workers, () => presentedBy(server.port))),
    );
    return seen.every((fingerprint) => fingerprint === next.fingerprint);
  });
  for (const finish of inFlight) expect(await finish()).toMatch(/^HTTP\/1\.1 201/);
  await until("enough clients", () => asked > 50);
  isOver = true;
  await Promise.all(clients);
  expect(failures).toEqual([]);
  const killed = childrenOf(server.pid);
  for (const worker of killed) process.kill(worker, "SIGKILL");
  await until("others", () => childrenOf(server.pid).filter((pid) => !killed.includes(pid)).length === workers);
  expect(await until("an answer", () => presentedBy(server.port).catch(() => null))).toBe(next.fingerprint);
  expect(await server.end()).toBe(0);
  expect(server.log().match(/INFO certificate for localhost, 127\.0\.0\.1, valid until /g)).toHaveLength(2);
}, 30_000);

test("routes are found for any requested host", async () => {
  const binary = installBinary();
  const server = await binary.serve(...writePair(makeDir(), makeCertificate()));
  for (const head of ["HTTP/1.0", "HTTP/1.1\r\nHost: a", "HTTP/1.1\r\nHost: shop", "HTTP/1.1\r\nHost: [::1]:8443"]) {
    const socket = await open(server.port);
    expect(await ask(socket, head)).toMatch(/^HTTP\/1\.[01] 200/);
    socket.destroy();
  }
  expect(await server.end()).toBe(0);
});

test("an unusable certificate is refused before anything is changed; an expired certificate is served, and doctor exits with 1", async () => {
  const [binary, dir] = [installBinary(), makeDir()];
  const flags = writePair(dir, { ...makeCertificate(), key: makeCertificate().key });
  const refused = await binary.run("serve", "--port", "0", ...flags);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain(`The key in ${join(dir, "key.pem")} does not match`);

  const day = 86_400_000;
  writePair(dir, makeCertificate({ from: Date.now() - 90 * day, until: Date.now() - day }));
  chmodSync(join(dir, "key.pem"), 0o644);
  const server = await binary.serve(...flags, "--public-url", "https://shop.example.com");
  await until("all warnings", () => server.log().match(/WARN/g)?.length === 3);
  expect(server.log()).toContain("expired on");
  expect(server.log()).toContain("covers localhost, 127.0.0.1, but --public-url is https://shop.example.com");
  expect(server.log()).toContain("Every account of this machine can read");
  // Without the server's flags, doctor asks the server.
  const { code, stdout } = await binary.run("doctor", "--only", "tls");
  expect([code, stdout]).toEqual([1, expect.stringContaining("tls: The server's certificate expired on")]);
  expect(await server.end()).toBe(0);
}, 20_000);

test.each(["RSA", "ECDSA"])("only cipher suites with forward secrecy are accepted, with a key of %s", async (kind) => {
  const server = await installBinary().serve(...writePair(makeDir(), makeCertificate({ isRsa: kind === "RSA" })));
  const suite = (ciphers: string, maxVersion: "TLSv1.2" | "TLSv1.3") =>
    new Promise((resolve) => {
      const options = { host: "127.0.0.1", port: server.port, rejectUnauthorized: false, ciphers, maxVersion };
      const socket = connect(options, () => {
        resolve(socket.getCipher().name);
        socket.destroy();
      });
      socket.on("error", () => resolve("refused"));
    });
  const without = ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "AES128-SHA", "AES256-SHA", `ECDHE-${kind}-AES128-SHA`];
  for (const name of without) expect([name, await suite(name, "TLSv1.2")]).toEqual([name, "refused"]);
  const names = ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"];
  const offered = names.map((name) => `ECDHE-${kind}-${name}`);
  for (const name of offered) expect(await suite(name, "TLSv1.2")).toBe(name);
  expect(await suite(offered.join(":"), "TLSv1.3")).toStartWith("TLS_");
  expect(await server.end()).toBe(0);
});
