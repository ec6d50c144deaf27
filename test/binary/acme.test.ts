import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { startAcmeServer } from "../support/acme-server.ts";
import { type Binary, useBinaries } from "../support/binary.ts";
import { findPebble, type Pebble, startPebble } from "../support/pebble.ts";
import { findPort } from "../support/port.ts";
import type { Serving } from "../support/serving.ts";
import { until } from "../support/until.ts";

const { installBinary, makeDir } = useBinaries();
const found = findPebble();
const startAuthority = async (seconds: number) => (found ? startPebble(found, seconds) : startAcmeServer(seconds));
const day = 86_400_000;
const timeoutMs = 60_000;

/** Starts a server that gets its certificate for the names from the authority. */
function serveNames(binary: Binary, pebble: Pebble, names: string, ...flags: string[]): Promise<Serving> {
  Object.assign(binary.env, { BODEGA_ACME_EMAIL: "owner@shop.test", NODE_EXTRA_CA_CERTS: pebble.trust });
  const acme = ["--acme", names, "--acme-directory", pebble.directory, "--acme-http-port", String(pebble.httpPort)];
  const port = flags.includes("--port") ? [] : ["--port", String(findPort())];
  return binary.serve(...acme, "--host", "127.0.0.1", ...port, ...flags);
}

interface Seen {
  names: string | undefined;
  serial: string;
  issuer: string;
}

/** Reads which certificate the server presents. */
function seeCertificate({ port }: Serving): Promise<Seen | null> {
  const { promise, resolve } = Promise.withResolvers<Seen | null>();
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
    const { subjectaltname: names, serialNumber: serial, issuer } = socket.getPeerCertificate();
    socket.destroy();
    resolve({ names, serial, issuer: String(issuer.CN) });
  }).on("error", () => resolve(null));
  return promise;
}

const seeIssued = (server: Serving, other?: string) =>
  until("a certificate of the authority", async () => {
    const seen = await seeCertificate(server);
    return seen?.issuer.startsWith("Pebble") && seen.serial !== other ? seen : null;
  });

async function tlsFindings(binary: Binary, pebble: Pebble, names: string) {
  const acme = ["--acme", names, "--acme-directory", pebble.directory, "--acme-http-port", String(pebble.httpPort)];
  const { stdout } = await binary.run("doctor", "--only", "tls", "--json", ...acme);
  const { findings } = JSON.parse(stdout) as {
    findings: { check: string; severity: string; message: string; remedy: string }[];
  };
  return findings.filter(({ check }) => check === "tls");
}

describe("a server and a certificate authority", () => {
  let pebble: Pebble;

  beforeAll(async () => {
    pebble = await startAuthority(90 * 86_400);
    for (const host of ["shop.test.", "www.shop.test."]) await pebble.set("add-a", { host, addresses: ["127.0.0.1"] });
  });
  afterAll(() => pebble.stop());

  test(
    "the server obtains a certificate that all workers present, keeps it over a restart, and renews it when the authority suggests a time",
    async () => {
      const [binary, names] = [installBinary(), "shop.test,www.shop.test"];
      let server = await serveNames(binary, pebble, names, "--workers", "2");
      const first = await seeIssued(server);
      expect(first.names).toBe("DNS:shop.test, DNS:www.shop.test");
      const files = ["acme-certificate.pem", "acme-account.pem"].map((name) => join(binary.dir, "bodega-data", name));
      for (const file of files) expect(statSync(file).mode & 0o777).toBe(0o600);

      const http = `http://127.0.0.1:${pebble.httpPort}`;
      const ask = (path: string, host: string) => fetch(http + path, { redirect: "manual", headers: { host } });
      const [redirect, strange] = [await ask("/a?b=c", "www.shop.test"), await ask("/", "evil.example")];
      expect(redirect.status).toBe(308);
      expect(redirect.headers.get("location")).toBe(`https://www.shop.test:${server.port}/a?b=c`);
      expect(strange.headers.get("location")).toBe(`https://shop.test:${server.port}/`);
      expect((await ask("/.well-known/acme-challenge/none", "shop.test")).status).toBe(404);

      expect(await server.end()).toBe(0);
      server = await serveNames(binary, pebble, names, "--workers", "2");
      expect(await seeIssued(server)).toEqual(first);

      const past = {
        start: new Date(Date.now() - 2 * day).toISOString(),
        end: new Date(Date.now() - day).toISOString(),
      };
      const [present = "", account = ""] = files.map((file) => readFileSync(file, "utf8"));
      await pebble.suggest(present, past);
      await server.succeed();
      await seeIssued(server, first.serial);
      expect(readFileSync(files[1] ?? "", "utf8")).toBe(account);
      expect(await tlsFindings(binary, pebble, names)).toEqual([]);
      expect(await server.end()).toBe(0);
    },
    timeoutMs,
  );

  test(
    "a new machine with the restored database presents the same certificate from its start",
    async () => {
      const [binary, elsewhere] = [installBinary(), makeDir()];
      const server = await serveNames(binary, pebble, "shop.test");
      const first = await seeIssued(server);
      expect(await server.end()).toBe(0);
      expect(await binary.run("db", "backup", "--to", "shop.tar.gz")).toMatchObject({ code: 0 });
      await Bun.write(join(elsewhere, "secret.key"), Bun.file(join(binary.dir, "bodega-data/secret.key")));
      const restored = await binary.run("db", "restore", "shop.tar.gz", "--data-dir", elsewhere, "--yes");
      expect(restored).toMatchObject({ code: 0 });
      const other = await serveNames(binary, pebble, "shop.test", "--data-dir", elsewhere);
      expect(await seeCertificate(other)).toEqual(first);
      expect(await other.end()).toBe(0);
    },
    timeoutMs,
  );

  test(
    "if DNS does not lead to the server, its log and doctor name the failed step, also after a restart; after a restart with another email, the server tries again at once",
    async () => {
      const [binary, name, step] = [installBinary(), "nowhere.test", "(DNS)"];
      let server = await serveNames(binary, pebble, name);
      const line = await until("the error", () => /ERROR No certificate .*/.exec(server.log())?.[0]);
      expect(line).toContain(step);
      expect(await seeCertificate(server)).toMatchObject({
        names: `DNS:${name}`,
        issuer: "Bodega, waiting for a certificate",
      });
      const [finding] = await tlsFindings(binary, pebble, name);
      expect(finding).toMatchObject({ severity: "error", message: expect.stringContaining(step) });
      expect(await server.end()).toBe(0);
      server = await serveNames(binary, pebble, name);
      const again = await until("the warning", () => server.log().match(/WARN No certificate .*/g));
      expect(again).toEqual([line.replace("ERROR", "WARN")]);
      expect(line).toMatch(/The next try is at 20\S+Z, or at once after: systemctl reload bodega$/);
      await pebble.set("add-a", { host: `${name}.`, addresses: ["127.0.0.1"] });
      expect(await server.end()).toBe(0);
      server = await serveNames(binary, pebble, name, "--acme-email", "other@shop.test");
      await seeIssued(server);
      expect(await server.end()).toBe(0);
      await pebble.set("clear-a", { host: `${name}.` });
    },
    timeoutMs,
  );

  test(
    "a certificate with a short lifetime is renewed in time; if the authority cannot be reached, the old certificate stays and doctor reports it",
    async () => {
      const short = await startAuthority(8);
      await short.set("add-a", { host: "shop.test.", addresses: ["127.0.0.1"] });
      const binary = installBinary();
      const server = await serveNames(binary, short, "shop.test");
      const first = await seeIssued(server);
      await seeIssued(server, first.serial);
      short.stop();
      await server.succeed();
      await until("the error", () => server.log().includes("authority cannot be reached"));
      expect((await seeCertificate(server))?.issuer).toStartWith("Pebble");
      const message = expect.stringContaining("cannot be reached");
      const findings = await until("the end of the certificate", async () => {
        const all = await tlsFindings(binary, short, "shop.test");
        return all.some(({ severity }) => severity === "error") ? all : null;
      });
      expect(findings).toContainEqual(expect.objectContaining({ severity: "warning", message }));
      expect(findings).toContainEqual(expect.objectContaining({ severity: "error", remedy: message }));
      expect(await server.end()).toBe(0);
    },
    timeoutMs,
  );
});
