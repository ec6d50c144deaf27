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

/** Returns a function that always returns the same copy, for commands that change nothing. */
function useOneCopy(): () => PreparedShop {
  let shop: PreparedShop | undefined;
  return () => {
    shop ??= copyShop();
    return shop;
  };
}

describe("without a terminal, a command ends with exit code 2 and names all missing arguments", () => {
  const shopOnce = useOneCopy();

  test.each(requiring)("bodega %s", async (_name, called) => {
    const { line, required } = leaveOutRequired(called, shopOnce());
    const names = required.map(({ name, arg }) => formatArg(name, arg));
    // If only the store is missing and there are several, the message also lists the stores.
    const message = `error: Missing ${names.join(", ")}.`;
    const outcome = await runCall(called, shopOnce(), line);
    expect(outcome).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining(message) });
  });

  test("a command in its own process, or with --no-input at a terminal, names all missing arguments", async () => {
    const { dataDir, env } = shopOnce();
    const line = ["user", "create"];
    const missing = { code: 2, stdout: "", stderr: expect.stringContaining("error: Missing ") };
    expect(await openCli(dataDir).run(line, { env })).toEqual(missing);
    expect(await runHere([...line, "--no-input"], { env, canAsk: true })).toEqual(missing);
    const suspend = await runHere(["tenant", "suspend", "demo", "--no-input"], { env, canAsk: true });
    expect([suspend.code, suspend.stderr]).toEqual([2, expect.stringContaining("--yes")]);
  });
});

describe("a command that needs a database ends with exit code 3 without one, and creates none", () => {
  const shopOnce = useOneCopy();

  test.each(named.filter(([, { call }]) => !call.needsNoShop))("bodega %s", async (_name, called) => {
    const shop = shopOnce();
    const nowhere = join(shop.dir, "nowhere");
    // A command reads a password before it looks up the user, so the password is given without a prompt.
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

describe("without a terminal, a command that needs a confirmation ends with exit code 2 and names the flag", () => {
  const shopOnce = useOneCopy();
  let contents: ReturnType<typeof readContents> | undefined;

  test.each(deciding)("bodega %s", async (_name, called) => {
    const shop = shopOnce();
    contents ??= readContents(shop.dataDir);
    const flag = called.call.instead?.(shop)[0] as string;
    const outcome = await runCall({ ...called, call: { ...called.call, input: "" } }, shop, [
      ...called.path,
      ...called.call.args(shop),
    ]);
    expect(outcome).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining(flag) });
  });

  test("the commands that were refused without a confirmation have changed nothing", () => {
    expect(readContents(shopOnce().dataDir)).toEqual(contents as NonNullable<typeof contents>);
  });
});
