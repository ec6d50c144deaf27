import { beforeAll, expect, test } from "bun:test";
import { openCli, runAtTerminal, stripEscapes } from "./run-bodega.ts";
import { runHere } from "./run-here.ts";
import { useSharedTerminal } from "./shared-terminal.ts";

const ctrlC = "\u0003";
const password = "Marmalade-Teapot-73";
const answerHere = useSharedTerminal(100);
const cli = openCli();
const env = cli.environment();

beforeAll(() => cli.json("tenant", "create", "demo"));

let emails = 0;
const newEmail = () => `user-${emails++}@example.com`;
const exists = async (email: string) => (await runHere(["user", "show", "-n", "demo", email], { env })).code === 0;

/** Creates a user at a terminal, and returns the screen. */
async function createAtTerminal(steps: [expect: string, send: string][], ...flags: string[]) {
  const email = newEmail();
  const line = ["user", "create", "-n", "demo", "--email", email, ...flags];
  const { code, screen } = await answerHere(line, steps, env);
  return { code, screen: stripEscapes(screen), exists: await exists(email) };
}

test("a password prompt shows no typed character", async () => {
  const ctrlT = "\u0014";
  const outcome = await createAtTerminal([
    ["New password", `${password.slice(0, 12)}${ctrlT}`],
    ["*".repeat(12), `${password.slice(12)}${ctrlT}\r`],
    ["Repeat the password", `${password}\r`],
  ]);
  expect([outcome.code, outcome.exists]).toEqual([0, true]);
  expect(outcome.screen).not.toContain(password.slice(0, 8));
  expect(outcome.screen).not.toContain("visibility");
});

test("the rules for passwords are wrapped to the terminal's width", async () => {
  const line = ["user", "create", "-n", "demo", "--email", newEmail()];
  const { screen } = await runAtTerminal(line, [["New password", ctrlC]], { env, columns: 40 });
  expect(stripEscapes(screen)).toStartWith(
    "A password needs at least 16 characters,\na lowercase letter, an uppercase letter,\n",
  );
});

test("an empty answer to a password prompt generates a password, which is shown once", async () => {
  const outcome = await createAtTerminal([["New password", "\r"]]);
  expect([outcome.code, outcome.exists]).toEqual([0, true]);
  expect(outcome.screen.replaceAll("\n", " ")).toContain("Leave it empty to generate one and show it once.");
  expect(outcome.screen.match(/\b[a-zA-Z2-9]{5}(?:-[a-zA-Z2-9]{5}){4}\b/g)).toHaveLength(1);
  expect(outcome.screen).toContain("Save this password now. It won't be shown again.");
});

test("--password-stdin at a terminal is refused, because the terminal would show the password", async () => {
  expect(await createAtTerminal([], "--password-stdin")).toMatchObject({ code: 2, exists: false });
});
