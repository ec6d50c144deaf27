import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findMissing } from "../../src/cli/framework/questions.ts";
import { describeUsers } from "../../src/server/db/local/open-file-lock.ts";
import { typedSecret } from "./command-calls.ts";
import { countRows, readContents } from "./database-contents.ts";
import {
  type CalledCommand,
  fullLine,
  leaveOutRequired,
  listCalledCommands,
  listQuestions,
  runCall,
} from "./every-command.ts";
import { usePromisedShapes } from "./json-shapes.ts";
import { type PreparedShop, usePreparedShop } from "./prepared-shop.ts";
import { runAtTerminal, type Step, stripEscapes } from "./run-bodega.ts";
import { useSharedTerminal } from "./shared-terminal.ts";

const copyShop = usePreparedShop({ hasSecondStore: true });
const runAtSharedTerminal = useSharedTerminal(200);
const expectShape = await usePromisedShapes();
/** The names of a command's required arguments. The questions for them come from their definitions. */
const requiredOf = ({ command }: CalledCommand) => findMissing(command.args, {}).map(([name]) => name);
const isFirst = (called: CalledCommand, index: number, all: CalledCommand[]) =>
  all.findIndex((one) => Bun.deepEquals(requiredOf(one), requiredOf(called))) === index;
/** Commands with their own questions, and one command for each set of required arguments. */
const asking = (await listCalledCommands())
  .filter((called, index, all) => called.call.asks || (requiredOf(called).length > 0 && isFirst(called, index, all)))
  .map((called): [string, CalledCommand] => [called.name, called]);

/** Parses the JSON value at the end of the screen, below the prompts. */
function readAnswer(screen: string): unknown {
  const lines = stripEscapes(screen).trimEnd().split("\n");
  const start = lines.findLastIndex((line) => /^[{[]/.test(line));
  return JSON.parse(lines.slice(start).join("\n"));
}

/** Calls the command with all flags. Returns the number of rows of each table afterwards. */
async function countAfterFlags(called: CalledCommand, shop: PreparedShop): Promise<Record<string, number>> {
  await runCall(called, shop, [...fullLine(called, shop), ...(called.call.jsonArgs?.(shop) ?? []), "--json"]);
  return countRows(shop.dataDir);
}

describe("missing arguments are prompted for at a terminal, and the answers work like flags", () => {
  test.each(asking)("bodega %s", async (name, called) => {
    const shop = copyShop();
    const { line } = leaveOutRequired(called, shop);
    const args = [...line, ...(called.call.jsonArgs?.(shop) ?? []), "--json"];
    const holders: string[] = [];
    const database = join(shop.dataDir, "bodega.db");
    const questions = listQuestions(called, shop).map(([question, answer]): Step => {
      const send = () => {
        if (existsSync(`${database}-users`)) holders.push(describeUsers(database));
        return answer as string;
      };
      return [question, send];
    });
    const { code, screen } = called.call.alone
      ? await runAtTerminal(args, questions, { env: shop.env, columns: 200 })
      : await runAtSharedTerminal(args, questions, shop.env);
    expect({ code, screen }).toEqual({ code: called.call.code ?? 0, screen: expect.any(String) });
    for (const [question] of questions) expect(stripEscapes(screen)).toContain(question);
    // While a command waits for an answer, other commands must be able to use the database.
    expect(new Set([...holders, "another command"])).toEqual(new Set(["another command"]));
    expectShape(name, readAnswer(screen));
    // The answer to a question for a required argument replaces its flag, so only other questions need this comparison.
    if (called.call.asks) expect(countRows(shop.dataDir)).toEqual(await countAfterFlags(called, copyShop()));
    for (const part of [typedSecret, typedSecret.slice(0, 8), typedSecret.slice(-6)])
      expect(screen).not.toContain(part);
  });
});

const hideCursor = "\u001b[?25l";
const showCursor = "\u001b[?25h";

describe("ctrl-C at the last question ends a command with exit code 130", () => {
  // The shop is shared, because no call may change it.
  let shop: PreparedShop | undefined;
  let contents: ReturnType<typeof readContents>;

  test.each(asking.filter(([, { call }]) => call.asks))("bodega %s", async (_name, called) => {
    if (shop === undefined) {
      shop = copyShop();
      contents = readContents(shop.dataDir);
    }
    const questions = listQuestions(called, shop);
    const [last] = questions.pop() as Step;
    const { line } = leaveOutRequired(called, shop);
    const steps = [...questions, [last, "\u0003"] as Step];
    const { code, screen } = called.call.alone
      ? await runAtTerminal(line, steps, { env: shop.env, columns: 200 })
      : await runAtSharedTerminal(line, steps, shop.env);
    expect({ code, screen }).toEqual({ code: 130, screen: expect.stringContaining("Cancelled.") });
    expect(screen.lastIndexOf(showCursor)).toBeGreaterThanOrEqual(screen.lastIndexOf(hideCursor));
  });

  test("the commands that ctrl-C ended at their last question have changed nothing", () => {
    expect(readContents((shop as PreparedShop).dataDir)).toEqual(contents);
  });
});
