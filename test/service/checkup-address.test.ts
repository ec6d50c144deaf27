import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../src/server/config/config.ts";
import type { ConfigFlags } from "../../src/server/config/options.ts";
import type { CheckupDeps, Finding } from "../../src/server/health/environment/finding.ts";
import { describeArrival, proxy } from "../../src/server/health/environment/proxy.ts";
import { publicAddress } from "../../src/server/health/environment/public-address.ts";
import { tls } from "../../src/server/health/environment/tls.ts";
import { command, makeDir, openCli } from "../cli/run-bodega.ts";
import { makeCertificate } from "../support/make-certificate.ts";
import { type Serving, watchServer } from "../support/serving.ts";

const dayMs = 86_400_000;
const peer = "127.0.0.1";
const unused = "http://127.0.0.1:1";
const closers: (() => unknown)[] = [];
const dirs = { trusting: makeDir(), wary: makeDir() };
let trusting: Serving;
let wary: Serving;

async function serve(dataDir: string, ...flags: string[]): Promise<Serving> {
  const args = [...command, "serve", "--port", "0", "--data-dir", dataDir, ...flags];
  const env = { PATH: process.env.PATH };
  const server = watchServer(Bun.spawn(args, { cwd: dataDir, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" }));
  closers.push(() => server.end());
  await server.ready();
  return server;
}

/** Something in front of a server that changes the headers as it likes, as its own address or its server's. */
function front(target: Serving, change: (headers: Headers) => void, own: object = {}): string {
  const server = Bun.serve({
    port: 0,
    hostname: peer,
    ...own,
    fetch({ url, headers }) {
      const passed = new Headers(headers);
      change(passed);
      return fetch(new URL(new URL(url).pathname, target.url), { headers: passed });
    },
  });
  closers.push(() => server.stop(true));
  return server.url.origin;
}

/** Adds the caller's address behind what the caller wrote, as proxies should. */
const append = (headers: Headers) => headers.set("x-forwarded-for", `${headers.get("x-forwarded-for")}, 198.51.100.7`);

function about(dataDir: string, flags: ConfigFlags = {}): CheckupDeps {
  return {
    config: readConfig({ dataDir, ...flags }, {}),
    db: null,
    ctx: null,
    tenant: null,
    now: Date.now,
    builtAt: 0,
    version: "0.0.0",
    uid: process.getuid?.(),
    timeoutMs: 5000,
    command: (words) => `bodega ${words}`,
  };
}

const tell = (found: Finding[]) => found.map(({ severity, message }) => `${severity}: ${message}`);

beforeAll(async () => {
  [trusting, wary] = await Promise.all([serve(dirs.trusting, "--trusted-proxy", `${peer}/32`), serve(dirs.wary)]);
});

afterAll(async () => {
  await Promise.all(closers.map((close) => close()));
});

describe("the public address", () => {
  const look = async (publicUrl: string | undefined, dataDir = dirs.wary) =>
    tell(await publicAddress.find(about(dataDir, { publicUrl })));

  test("that leads here is in order, and none at all is told", async () => {
    expect(await look(wary.url)).toEqual([]);
    expect(await look(front(wary, append))).toEqual([]);
    expect(await look(undefined)).toEqual([expect.stringMatching(/^note: No public address is set/)]);
  });

  test("at which nobody answers is an error; while no server runs here, a warning", async () => {
    expect(await look(unused)).toEqual([`error: Nobody answers at ${unused} (ECONNREFUSED).`]);
    expect(await look(unused, makeDir())).toEqual([
      expect.stringMatching(/^warning: .* No server of this folder runs\.$/),
    ]);
    expect(await look("http://bodega.invalid")).toEqual([
      "error: There is no host bodega.invalid in DNS.",
      expect.stringMatching(/^warning: http:\/\/bodega\.invalid is not encrypted/),
    ]);
  });

  test("at which somebody else answers, or sends on, is an error; another Bodega is a warning", async () => {
    const reply = (response: () => Response) => {
      const server = Bun.serve({ port: 0, hostname: peer, fetch: response });
      closers.push(() => server.stop(true));
      return server.url.origin;
    };
    const page = reply(() => new Response("<h1>Welcome to nginx!</h1>"));
    expect(await look(page)).toEqual([`error: Somebody answers at ${page} with 200, and it is not Bodega.`]);
    const moved = reply(
      () => new Response(null, { status: 301, headers: { location: "https://shop.example/health" } }),
    );
    const [finding] = await publicAddress.find(about(dirs.wary, { publicUrl: moved }));
    expect(finding?.message).toContain(`${moved} sends callers on to https://shop.example;`);
    expect(finding?.remedy).toBe("--public-url https://shop.example");
    expect(await look(trusting.url)).toEqual([
      `warning: A Bodega answers at ${trusting.url}, and it is not the one of this folder.`,
    ]);
  });

  test("with a certificate that nobody trusts is an error, and with one that ends soon a warning", async () => {
    const made = makeCertificate({ until: Date.now() + 5.5 * dayMs });
    const address = front(wary, append, { tls: made });
    expect(await look(address)).toEqual([
      `error: The certificate at ${address} signs itself: browsers and apps refuse it.`,
    ]);
    const authority = join(makeDir(), "ca.pem");
    writeFileSync(authority, made.cert);
    const { run } = openCli(dirs.wary);
    const { stdout } = await run(["doctor", "--public-url", address, "--json"], {
      env: { NODE_EXTRA_CA_CERTS: authority },
    });
    const { findings } = JSON.parse(stdout) as { findings: (Finding & { check: string })[] };
    expect(tell(findings.filter(({ check }) => check === "address"))).toEqual([
      expect.stringContaining(`warning: The certificate at ${address} ends in 5 days`),
    ]);
  });
});

describe("a proxy in front of the server", () => {
  const look = async (server: Serving, publicUrl: string, trustedProxy: string[] = []) =>
    proxy.find(about(server === wary ? dirs.wary : dirs.trusting, { publicUrl, trustedProxy }));

  test("that is trusted, and adds who calls, is in order; so is none", async () => {
    expect(await look(trusting, front(trusting, append))).toEqual([]);
    expect(
      await look(
        trusting,
        front(trusting, (headers) => headers.set("x-forwarded-for", peer)),
        [`${peer}/32`],
      ),
    ).toEqual([]);
    expect(await look(wary, wary.url)).toEqual([]);
    expect(await look(wary, unused)).toEqual([]);
  });

  test("that is not trusted is an error, whose remedy is the very flag", async () => {
    const [finding, ...others] = await look(wary, front(wary, append), ["10.0.0.0/8"]);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ severity: "error", subject: peer });
    expect(finding?.message).toContain(`A proxy at ${peer} stands in front of the server and is not trusted`);
    expect(finding?.remedy).toContain("--trusted-proxy 127.0.0.1/32 (BODEGA_TRUSTED_PROXY=10.0.0.0/8,127.0.0.1/32)");
    // What the remedy leads to is in order.
    expect(await look(trusting, front(trusting, append), ["127.0.0.1/32"])).toEqual([]);
  });

  test("that changes nothing but the host, as nginx does by itself, is told all at once", async () => {
    const found = await look(
      wary,
      front(wary, (headers) => headers.set("host", "upstream")),
    );
    expect(tell(found)).toEqual([
      expect.stringContaining("error: A proxy at"),
      expect.stringContaining("warning: The proxy at 127.0.0.1 passes X-Forwarded-For on"),
      expect.stringContaining("note: The proxy asks the server for upstream"),
    ]);
  });

  test("is known by its address, in whichever form the socket tells it", () => {
    const seen = { request_id: "doctor-1", at: "", client: peer, protocol: "http" as const, host: "shop.example.com" };
    const tellOf = (hops: string) =>
      describeArrival(about(dirs.wary, { trustedProxy: [`${peer}/32`] }), "https://shop.example.com", {
        ...seen,
        peer: `::ffff:${peer}`,
        forwarded: { "x-forwarded-for": hops },
      });
    expect(tellOf(peer)).toEqual([]);
    expect(tellOf("198.51.100.7")).toMatchObject([{ severity: "error", subject: peer }]);
    expect(tellOf("198.51.100.7")[0]?.remedy).toContain("--trusted-proxy 127.0.0.1/32 ");
  });

  test("that is trusted and tells nothing of callers, or what they say themselves, is an error", async () => {
    const silent = front(trusting, (headers) => {
      headers.delete("x-forwarded-for");
      headers.set("via", "1.1 front");
    });
    expect(tell(await look(trusting, silent, ["127.0.0.1/32"]))).toEqual([
      `error: The proxy at ${peer} says nothing of who calls: all callers count as one towards the limits.`,
    ]);
    const naive = front(trusting, (headers) => headers.set("via", "1.1 front"));
    expect(tell(await look(trusting, naive))).toEqual([
      expect.stringContaining(`error: The proxy at ${peer} passes X-Forwarded-For on as callers write it`),
    ]);
  });

  test("is none where callers are trusted as if they were one: they choose their address", async () => {
    expect(tell(await look(trusting, trusting.url))).toEqual([
      expect.stringContaining(`error: Calls arrive from ${peer} without a proxy, and are believed`),
    ]);
  });

  test("that asks for another host, or replaces the request's id, is told", async () => {
    const other = front(trusting, (headers) => {
      append(headers);
      headers.set("host", "upstream");
    });
    expect(tell(await look(trusting, other))).toEqual([
      expect.stringMatching(/^note: The proxy asks the server for upstream, and was asked for 127/),
    ]);
    const renaming = front(trusting, (headers) => headers.set("x-request-id", "another-request"));
    expect(tell(await look(trusting, renaming))).toEqual([
      expect.stringMatching(/^note: Something in front of the server replaces X-Request-Id/),
    ]);
  });
});

test("the certificate that is served is looked at where it lies, and its key's mode mended", async () => {
  const dir = makeDir();
  const files = { tlsCert: join(dir, "cert.pem"), tlsKey: join(dir, "key.pem") };
  const look = (flags: ConfigFlags = files) => tls.find(about(dir, flags));
  expect(await look({})).toEqual([]);
  expect(await look()).toMatchObject([{ severity: "error", subject: files.tlsCert }]);
  const made = makeCertificate({ until: Date.now() + 3.5 * dayMs });
  writeFileSync(files.tlsCert, made.cert);
  writeFileSync(files.tlsKey, made.key);
  chmodSync(files.tlsKey, 0o644);
  const found = await look({ ...files, publicUrl: "https://shop.example.com" });
  expect(found.map(({ severity, subject }) => [severity, subject])).toEqual([
    ["warning", files.tlsCert],
    ["warning", files.tlsCert],
    ["warning", files.tlsKey],
  ]);
  await found[2]?.mend?.();
  expect(statSync(files.tlsKey).mode & 0o777).toBe(0o640);
  expect(tell(await look())).toEqual([expect.stringContaining("ends in 3 days")]);
});
