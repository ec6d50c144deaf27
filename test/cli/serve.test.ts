import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readServerStatus } from "../../src/server/monitoring/listeners.ts";
import { until } from "../support/until.ts";
import { command, makeDir, openCli, useServers } from "./run-bodega.ts";

const { dataDir, environment, json, here: run } = openCli();
const serve = useServers(afterEach);

/** Starts a server command, and waits until its standard output contains `sign`. */
async function start(args: string[], sign: string) {
  const server = await serve([...args, "--port", "0"], { env: environment() });
  await until(sign, () => server.stdout().includes(sign));
  return { stdout: server.stdout(), stop: server.end };
}

describe("serve", () => {
  test("serve prints its address and its data directory, ignores SIGHUP without a terminal, and ends cleanly on SIGTERM", async () => {
    const { stdout, stop } = await start(["serve"], "Data directory");
    const url = /listens on (http:\S+)/.exec(stdout)?.[1] ?? "";
    expect(stdout).toContain(`Data directory: ${dataDir}\n`);
    // The port of the server differs from the settings.
    expect(JSON.parse((await run(["health", "--json"])).stdout)).toMatchObject({ url: `${url}/health/ready` });
    expect(await Promise.race([stop("SIGHUP"), run(["health", "--url", url])])).toMatchObject({ code: 0 });
    expect(await stop("SIGTERM")).toBe(0);
    expect(await run(["health", "--url", url])).toMatchObject({ code: 1 });
  });

  test("a server stops when its terminal is closed, as after SIGTERM", async () => {
    let screen = "";
    const server = Bun.spawn([...command, "serve", "--port", "0"], {
      env: environment(),
      terminal: {
        data(_, bytes) {
          screen += bytes.toString();
        },
      },
    });
    await until("its announcement", () => screen.includes("Data directory"));
    server.terminal?.close();
    expect([await server.exited, server.signalCode]).toEqual([0, null]);
  });

  test("init on the data directory of a running server says that new settings need a restart", async () => {
    await json("tenant", "create", "mugs");
    const { stop, stdout } = await start(["serve"], "Data directory");
    const [url] = /http:\S+/.exec(stdout) ?? [];
    const init = async (...flags: string[]) => (await run(["init", "-n", "mugs", "--no-owner", ...flags])).stdout;
    expect(await init("--port", "8081")).toContain(
      "# The server is already running. Restart it to apply the new settings\n",
    );
    const same = await init();
    expect(same).toContain("# The server is already running\n");
    expect(same).toContain(`Address    ${url}\n`);
    expect(await json("init", "-n", "mugs", "--no-owner")).toMatchObject({ url });
    expect(same).not.toContain("bodega serve");
    await stop("SIGTERM");
    expect(await init()).toMatch(/# Start the server\n.*bodega.* serve/);
  });

  test("serve in a new directory prints how to create a store, which settings have no effect, and that other accounts could read the key", async () => {
    const dir = join(makeDir(), "new");
    const path = join(dir, "secret.key");
    mkdirSync(dir);
    writeFileSync(path, "k".repeat(43), { mode: 0o644 });
    const env = environment({ BODEGA_DATA_DIR: dir, BODEGA_DATABASE_SYNC_URL: "https://x.example" });
    const server = await serve(["serve", "--port", "0", "--host", "0.0.0.0"], { env });
    expect(server.stdout()).toMatch(/listens on http:\/\/127\.0\.0\.1:\d+ and all other addresses of this machine\n/);
    await until("the hint", () => server.log().includes(`No store found. Create one: bodega init --data-dir ${dir}`));
    expect(server.log()).toMatch(/WARN +BODEGA_DATABASE_SYNC_URL in the environment is not a setting/);
    const warning = /WARN +Other accounts of this machine could read secret\.key\..* bodega db rekey/;
    await until("the warning", () => warning.test(server.log()));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("a server removes its control socket when it ends, and replaces the socket of a killed server", async () => {
    // This path is too long for a socket.
    const dir = join(makeDir(), "d".repeat(120));
    const env = environment({ BODEGA_DATA_DIR: dir });
    const killed = await serve(["serve", "--port", "0"], { env });
    const socket = join(dir, "server.sock");
    expect((statSync(socket).mode & 0o777).toString(8)).toBe("600");
    await killed.end("SIGKILL");
    expect([existsSync(socket), await readServerStatus(dir)]).toEqual([true, null]);
    const next = await serve(["serve", "--port", "0"], { env });
    expect(await readServerStatus(dir)).toMatchObject({ pid: next.pid, url: next.url });
    expect(await next.end()).toBe(0);
    expect(existsSync(socket)).toBe(false);
  });

  test("a command takes effect on the next request", async () => {
    await json("tenant", "create", "live");
    const { app_id, app_secret } = await json<Record<string, string>>("key", "issue", "-n", "live", "--name", "web");
    const { stdout } = await start(["serve", "--json"], "\n");
    const url = `${JSON.parse(stdout).url}/products/?namespace=live`;
    const request = async () =>
      (await fetch(url, { headers: { Authorization: `Bearer ${app_id}:${app_secret}` } })).status;
    expect(await request()).toBe(401);
    await json("key", "publish", app_id as string);
    expect(await request()).toBe(200);
    await json("key", "unpublish", app_id as string);
    expect(await request()).toBe(401);
    await json("tenant", "suspend", "live", "--yes");
    expect(await request()).toBe(404);
  });
});
