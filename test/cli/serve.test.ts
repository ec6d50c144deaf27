import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../support/until.ts";
import { command, makeDir, openCli, useServers } from "./run-bodega.ts";

const { dataDir, environment, json, run } = openCli();
const serve = useServers(afterEach);

/** Starts a server command, and waits until its standard output contains `sign`. */
async function start(args: string[], sign: string) {
  const server = await serve([...args, "--port", "0"], { env: environment() });
  await until(sign, () => server.stdout().includes(sign));
  return { stdout: server.stdout(), stop: server.end };
}

describe("serve", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
    "prints its address and its data directory, and ends cleanly on %s",
    async (signal) => {
      const { stdout, stop } = await start(["serve"], "Data directory");
      const url = /listens on (http:\S+)/.exec(stdout)?.[1] ?? "";
      expect(stdout).toContain(`Data directory: ${dataDir}\n`);
      expect(await run(["health", "--url", url])).toMatchObject({ code: 0 });
      // The port of the server differs from the settings.
      expect(JSON.parse((await run(["health", "--json"])).stdout)).toMatchObject({ url: `${url}/health/ready` });
      expect(await stop(signal)).toBe(0);
      expect(await run(["health", "--url", url])).toMatchObject({ code: 1 });
    },
  );

  test("SIGHUP does not end a server without a terminal", async () => {
    const { stop } = await start(["serve"], "Data directory");
    expect(await Promise.race([stop("SIGHUP"), run(["health"])])).toMatchObject({ code: 0 });
    expect(await stop("SIGTERM")).toBe(0);
  });

  test("a server whose terminal is closed stops as after SIGTERM", async () => {
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

  test("init on its data directory says that the server runs, and must be restarted for new settings", async () => {
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

  test("on all addresses says so", async () => {
    const { stdout } = await start(["serve", "--host", "0.0.0.0"], "Data directory");
    expect(stdout).toMatch(/listens on http:\/\/127\.0\.0\.1:\d+ and all other addresses of this machine\n/);
  });

  test("in an empty directory says how to create a store, and which settings have no effect", async () => {
    const env = environment({ BODEGA_DATA_DIR: join(makeDir(), "new"), BODEGA_DATABASE_SYNC_URL: "https://x.example" });
    const server = await serve(["serve", "--port", "0"], { env });
    const hint = `No store found. Create one: bodega init --data-dir ${env.BODEGA_DATA_DIR}`;
    await until("the hint", () => server.log().includes(hint));
    expect(server.log()).toMatch(/WARN +BODEGA_DATABASE_SYNC_URL in the environment is not a setting/);
  });

  test("warns of a secret key that other accounts could read, and restricts it", async () => {
    const dir = join(makeDir(), "shop");
    const path = join(dir, "secret.key");
    mkdirSync(dir);
    writeFileSync(path, "k".repeat(43), { mode: 0o644 });
    const env = environment({ BODEGA_DATA_DIR: dir });
    const server = await serve(["serve", "--port", "0"], { env });
    const warning = /WARN +Other accounts of this machine could read secret\.key\..* bodega db rekey/;
    await until("the warning", () => warning.test(server.log()));
    expect(statSync(path).mode & 0o777).toBe(0o600);
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
