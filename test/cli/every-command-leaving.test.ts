import { describe, expect, test } from "bun:test";
import { readContents } from "./database-contents.ts";
import { type CalledCommand, leaveOutRequired, listCalledCommands, listQuestions } from "./every-command.ts";
import { usePreparedShop } from "./prepared-shop.ts";
import { runAtTerminal, type Step } from "./run-bodega.ts";
import { useSharedTerminal } from "./shared-terminal.ts";

const ctrlC = "\u0003";
const hideCursor = "\u001b[?25l";
const showCursor = "\u001b[?25h";

const copyShop = usePreparedShop({ hasSecondStore: true });
const runAtSharedTerminal = useSharedTerminal(200);
const commands = await listCalledCommands();
const asking = commands
  .filter(
    ({ command, call }) => call.asks !== undefined || Object.values(command.args).some(({ required }) => required),
  )
  .map((called): [string, CalledCommand] => [called.name, called]);
const deciding = asking.filter(([, { call }]) => call.asks !== undefined);

let unchanged: Awaited<ReturnType<typeof readContents>> | undefined;

/** Answers the prompts up to one, presses ctrl-C there, and compares the database with an untouched one. */
async function leave(called: CalledCommand, choose: (questions: Step[]) => number): Promise<void> {
  const shop = copyShop();
  unchanged ??= await readContents(shop.dataDir);
  const questions = listQuestions(called, shop);
  const at = choose(questions);
  const steps = [...questions.slice(0, at), [questions[at]?.[0] as string, ctrlC] as Step];
  const { line } = leaveOutRequired(called, shop);
  const { code, screen } = called.call.alone
    ? await runAtTerminal(line, steps, { env: shop.env, columns: 200 })
    : await runAtSharedTerminal(line, steps, shop.env);
  expect({ code, screen }).toEqual({ code: 130, screen: expect.stringContaining("Cancelled.") });
  expect(screen.lastIndexOf(showCursor)).toBeGreaterThanOrEqual(screen.lastIndexOf(hideCursor));
  expect(await readContents(shop.dataDir)).toEqual(unchanged);
}

describe("ctrl-C at the first prompt is exit code 130, and changes nothing", () => {
  test.each(asking)("bodega %s", (_name, called) => leave(called, () => 0));
});

describe("ctrl-C at the last prompt is exit code 130, and changes nothing", () => {
  test.each(deciding)("bodega %s", (_name, called) => leave(called, (questions) => questions.length - 1));
});
