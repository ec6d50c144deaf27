import { beforeEach, describe, expect, test } from "bun:test";
import { usePreparedShop } from "./prepared-shop.ts";
import { openCli, runAtTerminal, stripEscapes } from "./run-bodega.ts";
import { runHere } from "./run-here.ts";
import { useSharedTerminal } from "./shared-terminal.ts";

const ctrlC = "\u0003";
const ctrlD = "\u0004";
const eraseLine = "\u0015";
const down = "\u001b[B";

const answerHere = useSharedTerminal(100);
let cli: ReturnType<typeof openCli>;
let env: Record<string, string | undefined>;

beforeEach(async () => {
  cli = openCli();
  env = cli.environment();
  await cli.json("tenant", "create", "demo");
  await cli.json("tenant", "create", "other");
});

test("the first prompt is for the store, with a few existing names above it", async () => {
  await cli.json("user", "create", "-n", "demo", "--email", "ada@example.com", "--name", "Ada", "--no-password");
  const steps: [string, string][] = [
    ["(--namespace)", "demo\r"],
    ["(<user>)", "ada@example.com\r"],
  ];
  const { code, screen } = await answerHere(["user", "show"], steps, env);
  expect(code).toBe(0);
  expect(stripEscapes(screen)).toMatch(
    /^ {2}demo {3}demo\n {2}other {2}other\n\? Namespace[\s\S]*\n {2}ada@example.com {2}customer(?:, Ada)?\n\? Id or email/,
  );
  const quiet = await answerHere(["user", "show", "-q"], steps, env);
  expect(stripEscapes(quiet.screen)).not.toContain("customer");
  for (let number = 0; number < 10; number++) await runHere(["tenant", "create", `more-${number}`], { env });
  const many = await answerHere(["tenant", "show"], [["<namespace>", "demo\r"]], env);
  expect(stripEscapes(many.screen)).not.toContain("more-0");
});

test("a wrong answer is refused at once, and the prompt asks again", async () => {
  const ask = async (line: string[], steps: [string, string][]) => {
    const { code, screen } = await answerHere(line, steps, env);
    return [code, stripEscapes(screen)] as const;
  };
  const [code] = await ask(
    ["user", "create", "--no-password"],
    [
      ["(--namespace)", "demo\r"],
      ["(--email)", "ada\r"],
      ["Must be an email address", `${eraseLine}ada@example.com\r`],
    ],
  );
  expect(code).toBe(0);
  const store: [string, string][] = [
    ["<namespace>", "My Shop\r"],
    ["Must be 1 to 63 lowercase letters", `${eraseLine}my-shop\r`],
  ];
  expect((await ask(["tenant", "create"], store))[0]).toBe(0);
  const { app_id } = await cli.json<{ app_id: string }>("key", "issue", "-n", "demo", "--name", "web");
  const origins: [string, string][] = [
    ["<origin...>", "a.example.com https://b.example.com/x\r"],
    ["is not a host", `${eraseLine}a.example.com b.example.com\r`],
    ["Let these sites use the key?", "y\r"],
  ];
  expect((await ask(["origin", "add", app_id], origins))[0]).toBe(0);
});

const copyShop = usePreparedShop();

test.each<[line: string, ...answers: [prompt: string, answer: string][]]>([
  [
    "product create --title Lamp",
    ["(--price)", "12 50"],
    ["Must be a number such as 1.5.", "12.505"],
    ["Is ambiguous. Write 12505 or 12.5050 in a currency with three decimals.", "12.50"],
  ],
  ["product stock", ["(<product>)", "LAMP-1"], ["(<change>)", "5"], ["such as +5", "=5"]],
  ["product update LAMP-1", ["Choose one", down], ["(--price)", "x"], ["Must be a number such as 1.5.", "9"]],
])("%s: after a wrong answer, the prompt gives the reason and asks again", async (line, ...answers) => {
  const steps = answers.map(([prompt, answer]): [string, string] => [
    prompt,
    `${prompt.startsWith("(") || answer === down ? "" : eraseLine}${answer}\r`,
  ]);
  const { code, screen } = await answerHere([...line.split(" "), "-n", "demo"], steps, copyShop().env);
  expect([code, stripEscapes(screen)]).toEqual([0, expect.any(String)]);
});

test("prompts can be read and answered in 40 columns", async () => {
  const steps: [string, string][] = [
    ["(--namespace)", "demo\r"],
    ["(--name)", "web\r"],
    ["What is the key for?", `${down}\r`],
  ];
  const { code, screen } = await runAtTerminal(["key", "issue"], steps, { env, columns: 40 });
  expect(code).toBe(0);
  expect(stripEscapes(screen)).toContain("Name of the key, such as app (--name)");
});

test("prompts accept lists and choices", async () => {
  const line = ["key", "issue", "-n", "demo", "--name", "web", "--scope", "catalog:read"];
  const { app_id } = await cli.json<{ app_id: string }>(...line);
  const steps: [string, string][] = [["<origin...>", "a.example.com  *.example.org\r"]];
  expect(await answerHere(["origin", "add", app_id], steps, env)).toMatchObject({ code: 0 });
  expect(await cli.json<string[]>("origin", "list", app_id)).toEqual(["*.example.org", "a.example.com"]);
  const { code, screen } = await answerHere(["completion"], [["<shell>", `${down}\r`]], env);
  expect({ code, isZsh: screen.includes("#compdef bodega") }).toEqual({ code: 0, isZsh: true });
});

test("key issue prompts for purpose and sites, and issues a storefront key", async () => {
  const steps: [string, string][] = [
    ["What is the key for?", "\r"],
    ["Sites whose pages may use the key", "shop.example.com/x\r"],
    ["is not a host such as", `${eraseLine}shop.example.com *.example.org\r`],
  ];
  expect(await answerHere(["key", "issue", "-n", "demo", "--name", "page"], steps, env)).toMatchObject({ code: 0 });
  expect(await cli.json<unknown[]>("key", "list", "-n", "demo")).toMatchObject([
    { scopes: ["catalog:read", "orders:place", "customers:sign-up"], origins: ["*.example.org", "shop.example.com"] },
  ]);
});

test("before pages can use a key with more rights, the prompt says what each visitor could do with it", async () => {
  const issue = ["key", "issue", "-n", "demo", "--name", "wide"];
  const refused: [string, string][] = [["Let these sites use the key?", "n\r"]];
  const wide = [...issue, "--for", "backend", "--origin", "shop.example.com"];
  const { code: cancelled, screen: warning } = await answerHere(wide, refused, env);
  expect([cancelled, stripEscapes(warning)]).toEqual([
    130,
    expect.stringContaining("then do everything in the store."),
  ]);
  expect(await cli.json<unknown[]>("key", "list", "-n", "demo")).toEqual([]);
  const { app_id } = await cli.json<{ app_id: string }>(...issue, "--scope", "orders:read", "--scope", "catalog:read");
  for (const verb of ["add", "set"]) {
    const asked: [string, string][] = [["Let these sites use the key?", "n\r"]];
    const { code, screen } = await answerHere(["origin", verb, app_id, "shop.example.com"], asked, env);
    expect([code, stripEscapes(screen)]).toEqual([
      130,
      expect.stringMatching(/Every visitor of shop\.example\.com can .*read all orders/),
    ]);
    expect(await cli.json<unknown[]>("origin", "list", app_id)).toEqual([]);
  }
  const agreed: [string, string][] = [["Let these sites use the key?", "y\r"]];
  expect(await answerHere(["origin", "add", app_id, "shop.example.com"], agreed, env)).toMatchObject({ code: 0 });
  // The command does not ask about sites that the list already has.
  expect(await answerHere(["origin", "set", app_id, "shop.example.com"], [], env)).toMatchObject({ code: 0 });
});

describe("a command that needs one of several flags asks for the flag, and then for its value", () => {
  const issue = async () =>
    (await cli.json<{ app_id: string }>("key", "issue", "-n", "demo", "--name", "web", "--publish")).app_id;

  test("origin check and origin set prompt for one of several flags, and then for its value", async () => {
    const line = [await issue(), "-n", "demo"];
    const set: [string, string][] = [
      ["Choose one", "\r"],
      ["<origin...>", "a.example.com\r"],
      ["Let these sites use the key?", "y\r"],
    ];
    expect(await answerHere(["origin", "set", ...line], set, env)).toMatchObject({ code: 0 });
    const check: [string, string][] = [
      ["Choose one", "\r"],
      ["<origin>", "https://a.example.com\r"],
    ];
    expect(await answerHere(["origin", "check", ...line], check, env)).toMatchObject({ code: 0 });
    const none: [string, string][] = [["Choose one", `${down}\r`]];
    expect(await answerHere(["origin", "check", ...line], none, env)).toMatchObject({ code: 1 });
    for (const command of ["set", "check"]) {
      const { code } = await runHere(["origin", command, ...line, "--no-input"], { env, canAsk: true });
      expect(code).toBe(2);
    }
  });
});

test("prompts go to standard error, so that standard output has only the result", async () => {
  const wrapper = ["sh", "-c", '"$0" "$@" > answer && tr -d "\\n" < answer'];
  const steps: [string, string][] = [["<namespace>", "new\r"]];
  const { screen } = await runAtTerminal(["tenant", "create", "--json"], steps, { env, wrapper });
  expect(JSON.parse(screen.slice(screen.indexOf("{")))).toMatchObject({ namespace: "new" });
});

/** Answers a prompt. Ctrl-D needs its own process, because it ends the process. */
const answerOnce = (line: string[], [question, keys]: [string, string]) =>
  keys === ctrlD ? runAtTerminal(line, [[question, keys]], { env }) : answerHere(line, [[question, keys]], env);

describe("a dangerous command asks for confirmation", () => {
  const status = async () => (await cli.json("tenant", "show", "demo")).status;
  test.each([
    ["y\r", 0, "suspended"],
    ["n\r", 130, "active"],
    ["\r", 130, "active"],
    [ctrlC, 130, "active"],
    [ctrlD, 130, "active"],
  ])("a dangerous command asks for confirmation and accepts %j", async (answer, code, after) => {
    const outcome = await answerOnce(["tenant", "suspend", "demo"], ["Suspend store demo?", answer]);
    expect(outcome.code).toBe(code);
    expect(await status()).toBe(after);
  });
});

describe("an irreversible action requires typing the name", () => {
  test.each([
    ["demo\r", 0],
    ["yes\r", 2],
    ["\r", 2],
    [ctrlC, 130],
  ])("an irreversible action requires typing the name and accepts %j", async (answer, code) => {
    const outcome = await answerOnce(["tenant", "delete", "demo"], ["Type demo to continue:", answer]);
    expect(outcome.code).toBe(code);
    expect((await cli.here(["tenant", "show", "demo"])).code).toBe(code === 0 ? 3 : 0);
  });
});

test("prompts have no colours with --no-color", async () => {
  const steps: [string, string][] = [["<namespace>", "new\r"]];
  const { screen } = await runAtTerminal(["tenant", "create", "--no-color"], steps, { env });
  const colours = screen.split("\u001b").filter((part) => /^\[[0-9;]*m/.test(part));
  expect(colours).toEqual([]);
});
