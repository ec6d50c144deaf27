import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { formatArg } from "../../src/cli/framework/args.ts";
import { readContents } from "./database-contents.ts";
import { type CalledCommand, leaveOutRequired, listCalledCommands, runCall } from "./every-command.ts";
import { type PreparedShop, usePreparedShop } from "./prepared-shop.ts";
import { openCli } from "./run-bodega.ts";
import { runHere } from "./run-here.ts";

const copyShop = usePreparedShop({ hasSecondStore: true });
const named = (await listCalledCommands()).map((called): [string, CalledCommand] => [called.name, called]);
const requiring = named.filter(([, { command }]) => Object.values(command.args).some(({ required }) => required));
const deciding = named.filter(([, { call }]) => call.instead !== undefined);

/** Returns a function that always gives the same copy, for commands that change nothing. */
function useOneCopy(): () => PreparedShop {
  let shop: PreparedShop | undefined;
  return () => {
    shop ??= copyShop();
    return shop;
  };
}

describe("without a terminal, missing arguments are exit code 2 and all are named", () => {
  const shopOnce = useOneCopy();

  test.each(requiring)("bodega %s", async (_name, called) => {
    const shop = shopOnce();
    const { line, required } = leaveOutRequired(called, shop);
    const names = required.map(({ name, arg }) => formatArg(name, arg));
    // If only the store is missing and there are several, the message also lists the stores.
    const message = `error: Missing ${names.join(", ")}.`;
    const outcome = await runCall(called, shop, line);
    expect(outcome).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining(message) });
    const told = await runHere([...line, "--no-input"], { env: shop.env, canAsk: true });
    expect(told).toEqual(outcome);
  });

  test("also in a process of its own", async () => {
    const shop = shopOnce();
    const outcome = await openCli(shop.dataDir).run(["user", "create"], { env: shop.env as Record<string, string> });
    expect(outcome).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining("error: Missing ") });
  });
});

describe("a command that needs a database is exit code 3 without one, and creates none", () => {
  const shopOnce = useOneCopy();

  test.each(named.filter(([, { call }]) => !call.needsNoShop))("bodega %s", async (_name, called) => {
    const shop = shopOnce();
    const nowhere = join(shop.dir, "nowhere");
    // Commands read a password before they look up the user, so the password is given in another way.
    const given = called.call.instead?.(shop);
    const instead = given && called.call.input !== undefined ? ["--random-password"] : given;
    const args = [...called.call.args(shop), ...(instead ?? []), ...(called.call.jsonArgs?.(shop) ?? [])];
    const line = [...called.path, ...args, "--data-dir", nowhere, "--json"];
    const { code, stdout, stderr } = await runHere(line, { env: shop.env });
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(JSON.parse(stderr).error).toMatchObject({ code: 5301, message: `Database not found in ${nowhere}.` });
    expect(existsSync(nowhere)).toBe(false);
  });
});

describe("without a terminal, a needed confirmation is exit code 2 naming the flag, and nothing is done", () => {
  test.each(deciding)("bodega %s", async (_name, called) => {
    const shop = copyShop();
    const flag = called.call.instead?.(shop)[0] as string;
    const line = [...called.path, ...called.call.args(shop)];
    const before = readContents(shop.dataDir);
    const outcome = await runCall(called, shop, line);
    expect(outcome).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining(flag) });
    const told = await runHere([...line, "--no-input"], { env: shop.env, canAsk: true });
    expect(told).toEqual(outcome);
    expect(readContents(shop.dataDir)).toEqual(before);
  });
});
