import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificate } from "./make-certificate.ts";
import { findPort } from "./port.ts";
import { until } from "./until.ts";

const programs = ["pebble", "pebble-challtestsrv"] as const;
const version = "v2.10.3";
const bin = join(import.meta.dir, "../../tools/pebble/node_modules/.bin");

/**
 * Finds Pebble, the test server of Let's Encrypt, or builds it once if Go is installed. Returns undefined if there is
 * neither; then our own test authority is used.
 */
export function findPebble(): Record<(typeof programs)[number], string> | undefined {
  const find = (name: string) => Bun.which(name) ?? [join(bin, name)].find(existsSync);
  if (programs.some((name) => find(name) === undefined) && Bun.which("go")) {
    const packages = programs.map((name) => `github.com/letsencrypt/pebble/v2/cmd/${name}@${version}`);
    // Without optimization, the build takes a fifth less time.
    const flags = ["-gcflags=all=-N -l", "-ldflags=-w"];
    Bun.spawnSync(["go", "install", ...flags, ...packages], { env: { ...process.env, GOBIN: bin } });
  }
  const [pebble, challenges] = programs.map(find);
  if (pebble && challenges) return { pebble, "pebble-challtestsrv": challenges };
  return undefined;
}

/** A certificate authority that checks names at `httpPort` of this machine, with its own DNS server. */
export interface Pebble {
  directory: string;
  /** The file with the certificate of the authority's directory. */
  trust: string;
  httpPort: number;
  /** Changes its DNS server, for example `set("add-a", { host: "shop.test.", addresses: ["127.0.0.1"] })`. */
  set: (what: string, value: object) => Promise<unknown>;
  /** Suggests when to renew a certificate. */
  suggest: (certificate: string, window: { start: string; end: string }) => Promise<unknown>;
  stop: () => void;
}

/** @param validitySeconds the lifetime of its certificates. */
export async function startPebble(
  found: NonNullable<ReturnType<typeof findPebble>>,
  validitySeconds: number,
): Promise<Pebble> {
  const dir = mkdtempSync(join(tmpdir(), "bodega-pebble-"));
  const [listen, management, httpPort, tlsPort, dns, names] = Array.from({ length: 6 }, findPort);
  const { cert, key } = makeCertificate();
  const at = (name: string) => join(dir, name);
  writeFileSync(at("cert.pem"), cert);
  writeFileSync(at("key.pem"), key);
  const pebble = {
    listenAddress: `127.0.0.1:${listen}`,
    managementListenAddress: `127.0.0.1:${management}`,
    ...{ certificate: at("cert.pem"), privateKey: at("key.pem"), httpPort, tlsPort },
    ...{ keyAlgorithm: "ecdsa", retryAfter: { authz: 1, order: 1 } },
    profiles: { default: { description: "The only one", validityPeriod: validitySeconds } },
  };
  writeFileSync(at("pebble.json"), JSON.stringify({ pebble }));
  const env = { ...process.env, PEBBLE_VA_NOSLEEP: "1", PEBBLE_WFE_NONCEREJECT: "20" };
  const off = ["-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", ""];
  const ports = ["-dnsserver", `127.0.0.1:${dns}`, "-management", `127.0.0.1:${names}`];
  const defaults = ["-defaultIPv4", "", "-defaultIPv6", ""];
  const stdio = ["ignore", "ignore", "ignore"] as ["ignore", "ignore", "ignore"];
  const children = [
    Bun.spawn([found["pebble-challtestsrv"], ...off, ...ports, ...defaults], { stdio }),
    Bun.spawn([found.pebble, "-config", at("pebble.json"), "-dnsserver", `127.0.0.1:${dns}`], { env, stdio }),
  ];
  const directory = `https://127.0.0.1:${listen}/dir`;
  const post = (url: string, value: object) =>
    fetch(url, { method: "POST", body: JSON.stringify(value), tls: { ca: cert } });
  const set = (what: string, value: object) => post(`http://127.0.0.1:${names}/${what}`, value);
  await until("Pebble", () => fetch(directory, { tls: { ca: cert } }).catch(() => null));
  await until("its names", () => set("clear-a", { host: "none.test." }).catch(() => null));
  return {
    ...{ directory, trust: at("cert.pem"), httpPort: httpPort as number, set },
    suggest: (certificate, suggestedWindow) =>
      post(`https://127.0.0.1:${management}/set-renewal-info/`, {
        certificate,
        ARIResponse: JSON.stringify({ suggestedWindow }),
      }),
    stop() {
      for (const child of children) child.kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
