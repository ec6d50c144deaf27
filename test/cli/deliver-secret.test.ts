import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withContext } from "../../src/cli/context/context.ts";
import { handOver } from "../../src/cli/secrets/deliver.ts";
import { createConsole } from "../../src/cli/terminal/console.ts";
import { openTerminal } from "../../src/cli/terminal/terminal.ts";
import { inTransaction } from "../../src/server/db/transaction.ts";
import { AppError } from "../../src/server/errors.ts";
import { rotateKey } from "../../src/server/modules/app-keys/rotation.ts";
import { failureOf } from "../support/failure.ts";
import { readContents } from "./database-contents.ts";
import { type PreparedShop, usePreparedShop } from "./prepared-shop.ts";
import { command, makeDir } from "./run-bodega.ts";

const copyShop = usePreparedShop();

/** Whatever makes a secret, without a file for it. */
const makers: [string, (shop: PreparedShop) => string[]][] = [
  ["key issue", () => ["key", "issue", "-n", "demo", "--name", "backend"]],
  ["key rotate", ({ appId }) => ["key", "rotate", appId, "--yes"]],
  ["webhook add", () => ["webhook", "add", "-n", "demo", "--url", "http://127.0.0.1:9/", "--allow-private"]],
  ["webhook rotate", ({ webhookId }) => ["webhook", "rotate", "-n", "demo", webhookId, "--yes"]],
  ["user create", () => ["user", "create", "-n", "demo", "--email", "new@example.com", "--random-password"]],
  ["user set-password", () => ["user", "set-password", "-n", "demo", "ada@example.com", "--random-password"]],
];

/** Runs a command whose standard output goes where a shell sends it, such as `>&-`. */
async function runWith(redirection: string, line: string[], shop: PreparedShop) {
  const script = `exec "$@" ${redirection}`;
  const child = Bun.spawn(["bash", "-c", script, "bash", ...command, ...line], {
    env: shop.env,
    cwd: shop.dir,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const [stderr, code] = await Promise.all([child.stderr.text(), child.exited]);
  return { code, stderr };
}

describe("a secret that nobody can take is not made, and the old one stays", () => {
  test.each(makers)("bodega %s", async (_name, lineOf) => {
    const shop = copyShop();
    const before = await readContents(shop.dataDir);
    const full = await runWith("> /dev/full", lineOf(shop), shop);
    expect(full).toEqual({ code: 1, stderr: expect.stringMatching(/ENOSPC.*Nothing was done/) });
    const closed = await runWith(">&-", lineOf(shop), shop);
    expect(closed).toEqual({ code: 2, stderr: expect.stringMatching(/nobody would see the secret[\s\S]*-file/) });
    expect(await readContents(shop.dataDir)).toEqual(before);
  });

  test("nor for a reader that has gone", async () => {
    const shop = copyShop();
    const before = await readContents(shop.dataDir);
    const script = 'exec 3> >(:); wait $!; exec "$@" >&3';
    const line = ["key", "rotate", shop.appId, "--yes"];
    const child = Bun.spawn(["bash", "-c", script, "bash", ...command, ...line], { env: shop.env, stderr: "pipe" });
    expect([await child.stderr.text(), await child.exited]).toEqual([expect.stringContaining("nothing was done"), 1]);
    expect(await readContents(shop.dataDir)).toEqual(before);
  });
});

describe("a secret goes into its file before it is valid", () => {
  function rotateInto(path: string, shop: PreparedShop, before: () => void, after: () => void) {
    const console = createConsole({ ...openTerminal(process), env: shop.env }, {});
    return handOver(
      { "data-dir": undefined, "database-url": undefined },
      console,
      { path, flag: "--secret-file" },
      (give) =>
        withContext({ "data-dir": shop.dataDir, "database-url": undefined }, console, (ctx) =>
          inTransaction(ctx, async (tx) => {
            const key = await rotateKey(tx, { appId: shop.appId, overlapMs: 0 });
            before();
            await give(key.app_secret, async () => {});
            after();
            return key;
          }),
        ),
    );
  }

  test("whole, for its owner only, with nothing beside it, and with signals held", async () => {
    const shop = copyShop();
    const dir = makeDir();
    const path = join(dir, "web.secret");
    const listeners = () => process.listenerCount("SIGTERM");
    const before = listeners();
    let seen = "";
    let held = 0;
    const look = () => {
      held = listeners() - before;
      seen = readFileSync(path, "utf8");
    };
    const { made } = await rotateInto(path, shop, () => expect(readdirSync(dir)).toEqual([]), look);
    expect([held, listeners()]).toEqual([1, before]);
    expect(seen).toBe(`${made.app_secret}\n`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(dir)).toEqual(["web.secret"]);
  });

  test("and when it cannot, nothing is made, and what somebody else has put there stays", async () => {
    const shop = copyShop();
    const path = join(makeDir(), "web.secret");
    const contents = await readContents(shop.dataDir);
    const error = await failureOf(
      rotateInto(
        path,
        shop,
        () => writeFileSync(path, "precious"),
        () => {},
      ),
    );
    expect(error).toMatchObject({ code: 5302, remedy: expect.stringContaining("killed") });
    expect(readFileSync(path, "utf8")).toBe("precious");
    expect(await readContents(shop.dataDir)).toEqual(contents);
  });

  test("which goes again when the secret comes to nothing", async () => {
    const shop = copyShop();
    const path = join(makeDir(), "web.secret");
    const contents = await readContents(shop.dataDir);
    const fail = () => {
      expect(existsSync(path)).toBe(true);
      throw new AppError("unavailable", "The commit failed.");
    };
    expect(await failureOf(rotateInto(path, shop, () => {}, fail))).toMatchObject({ code: 5001 });
    expect(existsSync(path)).toBe(false);
    expect(await readContents(shop.dataDir)).toEqual(contents);
  });
});

test("no signal ends the process while a secret changes hands, and afterwards each does", async () => {
  const script = `
    const { openTerminal } = await import(${JSON.stringify(join(import.meta.dir, "../../src/cli/terminal/terminal.ts"))});
    const release = openTerminal(process).holdSignals();
    for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) {
      const heard = new Promise((resolve) => process.once(signal, resolve));
      process.kill(process.pid, signal);
      await heard;
    }
    process.stdout.write(release());
    process.kill(process.pid, process.env.LAST);
    setInterval(() => {}, 1000);`;
  for (const [signal, ended] of [
    ["SIGTERM", "SIGTERM"],
    ["SIGHUP", "SIGHUP"],
    ["SIGINT", 130],
  ]) {
    const env = { PATH: process.env.PATH, LAST: String(signal) };
    const child = Bun.spawn([process.execPath, "-e", script], { env, stdout: "pipe" });
    expect(await child.stdout.text()).toBe("SIGTERM");
    await child.exited;
    expect(child.signalCode ?? child.exitCode).toBe(ended as number);
  }
});

/** The claim of the database by the key of the server stands before anything is made. */
async function readShop({ dataDir }: PreparedShop) {
  const { secret_fingerprint: _claim, ...rows } = await readContents(dataDir);
  return rows;
}

const initLine = ["init", "-n", "new", "--owner-email", "eve@example.com", "--owner-random-password", "--publish"];

test("init names the commands that replace secrets it could not print", async () => {
  const shop = copyShop();
  const { code, stderr } = await runWith("> /dev/full", initLine, shop);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining("Store new was created. The secrets could not be printed."),
  ]);
  expect(stderr).toMatch(
    /bodega key rotate app_\w+ --yes.* and bodega user set-password -n new usr_\w+ --random-password/,
  );
});

test.each([["key rotate", ({ appId }: PreparedShop) => ["key", "rotate", appId, "--yes"]]])(
  "%s gives up where standard output takes nothing, and says so",
  async (_name, lineOf) => {
    const shop = copyShop();
    const before = await readShop(shop);
    // The pipe is full, and its reader is asleep.
    const script =
      'exec 3> >(exec sleep 60); sleeper=$!; timeout 0.3 head -c 1000000 /dev/zero >&3; "$@" >&3; code=$?; kill $sleeper; exit $code';
    const child = Bun.spawn(["bash", "-c", script, "bash", ...command, ...lineOf(shop)], {
      env: shop.env,
      stdout: "ignore",
      stderr: "pipe",
    });
    const code = await child.exited;
    expect([code, await child.stderr.text()]).toEqual([4, expect.stringContaining("Standard output did not take")]);
    expect(await readShop(shop)).toEqual(before);
  },
);
