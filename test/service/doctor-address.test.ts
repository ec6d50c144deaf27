import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../src/server/config/config.ts";
import type { ConfigFlags } from "../../src/server/config/environment.ts";
import { checkArrival, checkPublicUrl } from "../../src/server/health/environment/public-url.ts";
import { checkTls } from "../../src/server/health/environment/server.ts";
import type { CheckSubject, Finding } from "../../src/server/health/finding.ts";
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

/** Starts a proxy that changes headers, at its own address or at the server's. */
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

/** Appends the caller's address to the header, like a correct proxy. */
const append = (headers: Headers) => headers.set("x-forwarded-for", `${headers.get("x-forwarded-for")}, 198.51.100.7`);

function about(dataDir: string, flags: ConfigFlags = {}): CheckSubject {
  return {
    config: readConfig({ "data-dir": dataDir, ...flags }, {}),
    ctx: null,
    tenant: null,
    now: Date.now,
    version: "0.0.0",
    uid: process.getuid?.(),
    env: {},
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

describe("the public URL", () => {
  const look = async (publicUrl: string | undefined, dataDir = dirs.wary) =>
    tell(
      (await Array.fromAsync(checkPublicUrl(about(dataDir, { "public-url": publicUrl })))).filter(
        ({ subject }) => subject !== peer,
      ),
    );

  test("doctor has no finding for a public URL that leads to this server, and notes a missing public URL", async () => {
    expect(await look(wary.url)).toEqual([]);
    expect(await look(front(wary, append))).toEqual([]);
    expect(await look(undefined)).toEqual([expect.stringMatching(/^note: No public URL is set/)]);
  });

  test("a public URL that does not answer is an error while a server runs", async () => {
    expect(await look(unused)).toEqual([`error: ${unused} does not answer (ECONNREFUSED).`]);
    expect(await look(unused, makeDir())).toEqual([]);
    expect(await look("http://bodega.invalid")).toEqual([
      expect.stringMatching(/^error: http:\/\/bodega\.invalid has no DNS record \(\w+\)\.$/),
      expect.stringMatching(/^warning: http:\/\/bodega\.invalid is not encrypted/),
    ]);
  });

  test("a public URL that leads to another program, or redirects, is an error; a URL that leads to another Bodega server is a warning", async () => {
    const reply = (response: () => Response) => {
      const server = Bun.serve({ port: 0, hostname: peer, fetch: response });
      closers.push(() => server.stop(true));
      return server.url.origin;
    };
    const page = reply(() => new Response("<h1>Welcome to nginx!</h1>"));
    expect(await look(page)).toEqual([`error: ${page} is not answered by Bodega (HTTP 200).`]);
    const moved = reply(
      () => new Response(null, { status: 301, headers: { location: "https://shop.example/health" } }),
    );
    const [finding] = await Array.fromAsync(checkPublicUrl(about(dirs.wary, { "public-url": moved })));
    expect(finding?.message).toContain(`${moved} redirects to https://shop.example.`);
    expect(finding?.remedy).toBe("Use --public-url https://shop.example");
    expect(await look(trusting.url)).toEqual([
      `warning: ${trusting.url} is answered by a Bodega server with another data directory.`,
    ]);
  });

  test("a public URL with an untrusted certificate is an error, and a URL with a certificate that expires soon is a warning", async () => {
    const made = makeCertificate({ until: Date.now() + 5.5 * dayMs });
    const address = front(wary, append, { tls: made });
    expect(await look(address)).toEqual([`error: ${address} has no valid certificate (DEPTH_ZERO_SELF_SIGNED_CERT).`]);
    const authority = join(makeDir(), "ca.pem");
    writeFileSync(authority, made.cert);
    const { run } = openCli(dirs.wary);
    const { stdout } = await run(["doctor", "--public-url", address, "--json"], {
      env: { NODE_EXTRA_CA_CERTS: authority },
    });
    const { findings } = JSON.parse(stdout) as { findings: (Finding & { check: string })[] };
    expect(tell(findings.filter(({ check, subject }) => check === "address" && subject === address))).toEqual([
      expect.stringContaining(`warning: The certificate at ${address} expires in 5 days`),
    ]);
  });
});

describe("a proxy in front of the server", () => {
  const look = async (server: Serving, publicUrl: string, trustedProxy: string[] = []) =>
    Array.fromAsync(
      checkPublicUrl(
        about(server === wary ? dirs.wary : dirs.trusting, { "public-url": publicUrl, "trusted-proxy": trustedProxy }),
      ),
    );

  test("doctor has no finding for a trusted proxy that sends the client's address, or for a server without a proxy", async () => {
    expect(await look(trusting, front(trusting, append))).toEqual([]);
    expect(
      await look(
        trusting,
        front(trusting, (headers) => headers.set("x-forwarded-for", peer)),
        [`${peer}/32`],
      ),
    ).toEqual([]);
    expect(await look(wary, wary.url)).toEqual([]);
  });

  test("a proxy that is not trusted is an error with a flag as remedy, even if the proxy only changes the Host header, like nginx", async () => {
    const [finding, ...others] = await look(wary, front(wary, append), ["10.0.0.0/8"]);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ severity: "error", subject: peer });
    expect(finding?.message).toContain(`The proxy at ${peer} is not trusted`);
    expect(finding?.remedy).toContain("--trusted-proxy 127.0.0.1/32 (BODEGA_TRUSTED_PROXY=10.0.0.0/8,127.0.0.1/32)");
    // After the remedy, there is no finding.
    expect(await look(trusting, front(trusting, append), ["127.0.0.1/32"])).toEqual([]);
    const changing = front(wary, (headers) => headers.set("host", "upstream"));
    expect(tell(await look(wary, changing))).toEqual([expect.stringContaining(`The proxy at ${peer} is not trusted`)]);
  });

  test("doctor recognizes a trusted proxy by its address in any form", () => {
    const seen = { request_id: "doctor-1", at: "", client: peer, protocol: "http" as const, host: "shop.example.com" };
    const tellOf = (hops: string) =>
      Array.from(
        checkArrival([`${peer}/32`], "https://shop.example.com", {
          ...seen,
          peer: `::ffff:${peer}`,
          forwarded: { "x-forwarded-for": hops },
        }),
      );
    expect(tellOf(peer)).toEqual([]);
    expect(tellOf("198.51.100.7")).toMatchObject([{ severity: "error", subject: peer }]);
    expect(tellOf("198.51.100.7")[0]?.remedy).toContain("--trusted-proxy 127.0.0.1/32 ");
  });

  test("a trusted proxy that sends no address, or a forged address, is an error, and so is a trusted proxy that does not exist", async () => {
    const silent = front(trusting, (headers) => {
      headers.delete("x-forwarded-for");
      headers.set("via", "1.1 front");
    });
    expect(tell(await look(trusting, silent, ["127.0.0.1/32"]))).toEqual([
      `error: The proxy at ${peer} does not send X-Forwarded-For, so all clients share one rate limit.`,
    ]);
    const naive = front(trusting, (headers) => headers.set("via", "1.1 front"));
    for (const url of [naive, trusting.url]) {
      expect(tell(await look(trusting, url))).toEqual([
        expect.stringContaining("error: Clients can forge their IP address"),
      ]);
    }
  });
});

test("doctor checks the certificate files, and can fix the mode of the key", async () => {
  const dir = makeDir();
  const files = { "tls-cert": join(dir, "cert.pem"), "tls-key": join(dir, "key.pem") };
  const look = (flags: ConfigFlags = files) => Array.fromAsync(checkTls(about(dir, flags)));
  expect(await look({})).toEqual([]);
  expect(await look()).toMatchObject([{ severity: "error", subject: files["tls-cert"] }]);
  const made = makeCertificate({ until: Date.now() + 3.5 * dayMs });
  writeFileSync(files["tls-cert"], made.cert);
  writeFileSync(files["tls-key"], made.key);
  chmodSync(files["tls-key"], 0o644);
  const found = await look({ ...files, "public-url": "https://shop.example.com" });
  expect(found.map(({ severity, subject }) => [severity, subject])).toEqual([
    ["error", files["tls-cert"]],
    ["warning", files["tls-cert"]],
    ["warning", files["tls-key"]],
  ]);
  await found[2]?.fix?.();
  expect(statSync(files["tls-key"]).mode & 0o777).toBe(0o640);
  expect(tell(await look())).toEqual([expect.stringMatching(/(?:ends|expires) in 3 days/)]);
});
