import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { planSecretFile } from "../../src/cli/secrets/deliver.ts";
import { failureOf } from "../support/failure.ts";
import { readContents } from "./database-contents.ts";
import { type PreparedShop, usePreparedShop } from "./prepared-shop.ts";
import { command, makeDir } from "./run-bodega.ts";

const copyShop = usePreparedShop();

/** Commands that make a secret, without a file for it. */
const makers: [string, (shop: PreparedShop) => string[]][] = [
  ["key issue", () => ["key", "issue", "-n", "demo", "--name", "backend"]],
  ["key rotate", ({ appId }) => ["key", "rotate", appId, "--yes"]],
  ["webhook add", () => ["webhook", "add", "-n", "demo", "--url", "http://127.0.0.1:9/", "--allow-private"]],
  ["webhook rotate", ({ webhookId }) => ["webhook", "rotate", "-n", "demo", webhookId, "--yes"]],
  ["user create", () => ["user", "create", "-n", "demo", "--email", "new@example.com", "--random-password"]],
  ["user set-password", () => ["user", "set-password", "-n", "demo", "ada@example.com", "--random-password"]],
];

/** Runs a command whose standard output goes where a shell sends it, such as `>&-`. */
async function runWith(script: string, line: string[], shop: PreparedShop) {
  const child = Bun.spawn(["bash", "-c", script, "bash", ...command, ...line], {
    env: shop.env,
    cwd: shop.dir,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, stdout, stderr };
}

/** The new command that an error names, as words. */
function findRemedy(stderr: string): string[] {
  const words = /Create another one: bodega (.+)/.exec(stderr)?.[1] ?? "";
  return words.split(" ").map((word) => word.replaceAll("'", ""));
}

describe.each(makers)("bodega %s", (_name, lineOf) => {
  test("creates nothing when standard output is closed or /dev/null", async () => {
    const shop = copyShop();
    const before = await readContents(shop.dataDir);
    for (const redirection of [">&-", "> /dev/null"]) {
      const refused = await runWith(`exec "$@" ${redirection}`, lineOf(shop), shop);
      expect(refused).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/nobody would see the secret[\s\S]*--save-\w+-to/),
      });
    }
    expect(await readContents(shop.dataDir)).toEqual(before);
  });

  test("names the command that creates another secret when this one could not be written", async () => {
    const shop = copyShop();
    const { code, stderr } = await runWith('exec "$@" > /dev/full', lineOf(shop), shop);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/ENOSPC.*is valid, but was not delivered/)]);
    expect(await runWith('exec "$@"', findRemedy(stderr), shop)).toMatchObject({ code: 0 });
  });
});

test("a secret written to a closed pipe is reported as not delivered", async () => {
  const shop = copyShop();
  const script = 'exec 3> >(:); wait $!; exec "$@" >&3';
  const { code, stderr } = await runWith(script, ["key", "rotate", shop.appId, "--yes"], shop);
  expect([code, stderr]).toEqual([1, expect.stringContaining("was not delivered")]);
  expect(findRemedy(stderr).slice(0, 3)).toEqual(["key", "rotate", shop.appId]);
});

describe("a secret file", () => {
  test("contains the secret and a line break, and is readable by its owner only", async () => {
    const dir = makeDir();
    const file = planSecretFile(join(dir, "web.secret"));
    expect(readdirSync(dir)).toEqual([]);
    await file.save("sk_1");
    expect(readFileSync(file.path, "utf8")).toBe("sk_1\n");
    expect(statSync(file.path).mode & 0o777).toBe(0o600);
    expect(readdirSync(dir)).toEqual(["web.secret"]);
  });

  test("is refused before anything is created when it exists or cannot be created", async () => {
    const shop = copyShop();
    const before = await readContents(shop.dataDir);
    const path = join(makeDir(), "web.secret");
    writeFileSync(path, "precious");
    for (const [given, code] of [
      [path, 4],
      [join(shop.dir, "missing", "web.secret"), 2],
    ] as const) {
      const line = ["key", "rotate", shop.appId, "--yes", "--save-secret-to", given];
      expect((await runWith('exec "$@"', line, shop)).code).toBe(code);
    }
    expect(readFileSync(path, "utf8")).toBe("precious");
    expect(await readContents(shop.dataDir)).toEqual(before);
  });

  test("never replaces a file that was created meanwhile", async () => {
    const file = planSecretFile(join(makeDir(), "web.secret"));
    writeFileSync(file.path, "precious");
    expect(await failureOf(file.save("sk_1"))).toMatchObject({ code: 5302 });
    expect(readFileSync(file.path, "utf8")).toBe("precious");
  });
});

const initLine = ["init", "-n", "new", "--owner-email", "eve@example.com", "--owner-random-password", "--publish"];

test("init creates nothing when standard output is closed", async () => {
  const shop = copyShop();
  const before = await readContents(shop.dataDir);
  const { code, stderr } = await runWith('exec "$@" >&-', initLine, shop);
  expect([code, stderr]).toEqual([2, expect.stringContaining("nobody would see the secret")]);
  expect(await readContents(shop.dataDir)).toEqual(before);
});

test("init names the commands that replace secrets it could not print", async () => {
  const shop = copyShop();
  const { code, stderr } = await runWith('exec "$@" > /dev/full', initLine, shop);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining("Store new was created. The secrets could not be printed."),
  ]);
  expect(stderr).toMatch(
    /bodega key rotate app_\w+ --yes.* and bodega user set-password -n new usr_\w+ --random-password/,
  );
});
