import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { planSecretFile } from "../../src/cli/secrets/secrets.ts";
import { failureOf } from "../support/failure.ts";
import { readContents } from "./database-contents.ts";
import { type PreparedShop, usePreparedShop } from "./prepared-shop.ts";
import { command, makeDir, runProgram } from "./run-bodega.ts";
import { runHere } from "./run-here.ts";

const copyShop = usePreparedShop();

/** Command lines that create a secret, without a file for it. */
const makers: [string, (shop: PreparedShop) => string[]][] = [
  ["key rotate", ({ appId }) => ["key", "rotate", appId, "--yes"]],
  ["user set-password", () => ["user", "set-password", "-n", "demo", "ada@example.com", "--random-password"]],
];

/** Runs a command. A shell redirects its standard output, for example with `>&-`. */
const runWith = (script: string, line: string[], { env, dir }: PreparedShop) =>
  runProgram(["bash", "-c", script, "bash", ...command, ...line], { env, cwd: dir });

test.each(makers)("bodega %s reports a secret that could not be written", async (_name, lineOf) => {
  const shop = copyShop();
  const { code, stderr } = await runWith('exec "$@" > /dev/full', lineOf(shop), shop);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/ENOSPC.*is valid, but was not delivered/)]);
});

describe("a secret file", () => {
  test("a secret file contains the secret and a line break, and is readable by its owner only", async () => {
    const dir = makeDir();
    const file = planSecretFile(join(dir, "web.secret"));
    expect(readdirSync(dir)).toEqual([]);
    await file.save("sk_1");
    expect(readFileSync(file.path, "utf8")).toBe("sk_1\n");
    expect(statSync(file.path).mode & 0o777).toBe(0o600);
    expect(readdirSync(dir)).toEqual(["web.secret"]);
  });

  test("a secret file that exists or cannot be created is refused before anything else is created", async () => {
    const shop = copyShop();
    const before = readContents(shop.dataDir);
    const path = join(makeDir(), "web.secret");
    writeFileSync(path, "precious");
    for (const [given, code] of [
      [path, 4],
      [join(shop.dir, "missing", "web.secret"), 2],
    ] as const) {
      const line = ["key", "rotate", shop.appId, "--yes", "--save-secret-to", given];
      expect((await runHere(line, shop)).code).toBe(code);
    }
    expect(readFileSync(path, "utf8")).toBe("precious");
    expect(readContents(shop.dataDir)).toEqual(before);
  });

  test("a secret file never replaces a file that was created meanwhile", async () => {
    const file = planSecretFile(join(makeDir(), "web.secret"));
    writeFileSync(file.path, "precious");
    expect(await failureOf(file.save("sk_1"))).toMatchObject({ code: 5302 });
    expect(readFileSync(file.path, "utf8")).toBe("precious");
  });
});
