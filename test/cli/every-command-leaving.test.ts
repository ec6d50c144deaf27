import { describe, expect, test } from "bun:test";
import { readContents } from "./database-contents.ts";
import { type CalledCommand, leaveOutRequired, listCalledCommands, listQuestions } from "./every-command.ts";
import { usePreparedShop } from "./prepared-shop.ts";
import { runAtTerminal, type Step } from "./run-bodega.ts";

const ctrlC = "\u0003";
const ctrlD = "\u0004";
const hideCursor = "\u001b[?25l";
const showCursor = "\u001b[?25h";

const copyShop = usePreparedShop({ hasSecondStore: true });
const commands = await listCalledCommands();
const asking = commands
  .filter(
    ({ command, call }) => call.asks !== undefined || Object.values(command.args).some(({ required }) => required),
  )
  .map((called): [string, CalledCommand] => [called.name, called]);
const deciding = asking.filter(([, { call }]) => call.asks !== undefined);

/** Answers the prompts up to one, presses a key there, and compares the database before and after. */
async function leave(called: CalledCommand, choose: (questions: Step[]) => number, key: string): Promise<void> {
  const shop = copyShop();
  const questions = listQuestions(called, shop);
  const at = choose(questions);
  const steps = [...questions.slice(0, at), [questions[at]?.[0] as string, key] as Step];
  const before = await readContents(shop.dataDir);
  const { line } = leaveOutRequired(called, shop);
  const { code, screen } = await runAtTerminal(line, steps, { env: shop.env, columns: 200 });
  expect({ code, screen }).toEqual({ code: 130, screen: expect.stringContaining("Cancelled.") });
  expect(screen.lastIndexOf(showCursor)).toBeGreaterThanOrEqual(screen.lastIndexOf(hideCursor));
  expect(await readContents(shop.dataDir)).toEqual(before);
}

describe("ctrl-C at the first prompt is exit code 130, and changes nothing", () => {
  test.each(asking)("bodega %s", (_name, called) => leave(called, () => 0, ctrlC));
});

describe("ctrl-D at the last prompt is exit code 130, and changes nothing", () => {
  test.each(deciding)("bodega %s", (_name, called) => leave(called, (questions) => questions.length - 1, ctrlD));
});
