import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { certificate, certificateKey } from "../support/certificate.ts";
import { command, makeDir, openCli } from "./run-bodega.ts";

const { here: run, run: runAlone, environment } = openCli();
const replies: Record<string, () => Response> = {
  "/ready/health/ready": () => Response.json({ request_id: "r", data: { status: "ok" } }),
  "/warned/health/ready": () =>
    Response.json({ request_id: "r", data: { status: "ok", warning: "Writes are not on the disk." } }),
  "/draining/health/ready": () =>
    Response.json({ request_id: "r", error: { code: 5001, message: "Draining." } }, { status: 503 }),
  "/moved/health/ready": () => new Response(null, { status: 302, headers: { Location: "/ready/health/ready" } }),
};
let asked = Promise.withResolvers<void>();
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    asked.resolve();
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/silent")) await Bun.sleep(5_000);
    return replies[pathname]?.() ?? new Response(null, { status: 404 });
  },
});
const base = `http://127.0.0.1:${server.port}`;

afterAll(() => server.stop(true));

describe("health exits 0 when the server is ready, and 1 when it is not", () => {
  test.each([
    ["/ready", 0, { status: "ready", http_status: 200 }],
    ["/warned", 0, { status: "ready", http_status: 200, message: "Writes are not on the disk." }],
    ["/draining", 1, { status: "not ready", http_status: 503, message: "Draining." }],
    ["/moved", 1, { status: "not ready", http_status: 302 }],
    ["/nothing", 1, { status: "not ready", http_status: 404 }],
    ["/silent", 1, { status: "unreachable", http_status: null, message: "no answer in time" }],
  ])("%s", async (path, code, expected) => {
    const outcome = await run(["health", "--url", base + path, "--timeout", "1s", "--json"]);
    expect(outcome).toMatchObject({ code, stderr: "" });
    expect(JSON.parse(outcome.stdout)).toMatchObject(expected);
  });
});

test("health calls the address of --host and --port", async () => {
  const { code, stdout } = await run(["health"], { env: { BODEGA_HOST: "0.0.0.0", BODEGA_PORT: "1" } });
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^unreachable: no connection \(http:\/\/127\.0\.0\.1:1\/health\/ready\)\. Start it: \S*bodega serve\n$/,
  );
});

test("if a standby is stopped, health suggests bodega standby, not bodega serve", async () => {
  const { dataDir, here: runOn } = openCli();
  const url = "http://127.0.0.1:1";
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, "standby.json"), JSON.stringify({ place: "s3://my-bucket/shop", url }));
  const { code, stdout } = await runOn(["health"]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/\. Start it: \S*bodega standby --from s3:\/\/my-bucket\/shop\n$/);
});

test("health ends with exit code 2 for an invalid address", async () => {
  expect(await run(["health", "--url", "shop.example.com"])).toMatchObject({ code: 2, stdout: "" });
});

describe("a server that speaks https", () => {
  const encrypted = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert: certificate, key: certificateKey },
    fetch: () => Response.json({ request_id: "r", data: { status: "ok" } }),
  });
  afterAll(() => encrypted.stop(true));
  const address = `https://127.0.0.1:${encrypted.port}`;

  test("a server that speaks https is reached from its own machine, with any certificate", async () => {
    const env = { BODEGA_PORT: String(encrypted.port), BODEGA_TLS_CERT: "shop.crt", BODEGA_TLS_KEY: "shop.key" };
    const { code, stdout } = await run(["health", "--json"], { env });
    expect(JSON.parse(stdout)).toMatchObject({ status: "ready", url: `${address}/health/ready` });
    expect(code).toBe(0);
  });

  test("a server that speaks https needs a trusted certificate if --url names the server", async () => {
    const untrusted = await run(["health", "--url", address]);
    expect(untrusted.code).toBe(1);
    expect(untrusted.stdout).toStartWith("unreachable: certificate rejected: self signed certificate (https:");
    const authority = join(makeDir(), "ca.pem");
    writeFileSync(authority, certificate);
    const trusted = await runAlone(["health", "--url", address], { env: { NODE_EXTRA_CA_CERTS: authority } });
    expect(trusted.code).toBe(0);
  });
});

test("SIGINT ends a command with exit code 130", async () => {
  asked = Promise.withResolvers();
  const child = Bun.spawn([...command, "health", "--url", `${base}/silent`], {
    env: environment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  await asked.promise;
  child.kill("SIGINT");
  expect(await child.exited).toBe(130);
});
