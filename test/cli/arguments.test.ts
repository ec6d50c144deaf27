import { beforeAll, describe, expect, test } from "bun:test";
import { type CommandArgs, valueArg, wordArg } from "../../src/cli/framework/args.ts";
import { readArgs } from "../../src/cli/framework/read-args.ts";
import { openCli } from "./run-bodega.ts";

const { here: run, failure, json } = openCli();

beforeAll(() => json("db", "migrate"));

/** Wrong command lines, each with a part of its error message. All end with exit code 2 and change nothing. */
const mistakes: [line: string[], message: string][] = [
  [["tenant", "list", "--bogus"], "Unknown flag --bogus."],
  [["tenant", "list", "-x"], "Unknown flag -x."],
  [["tenant", "list", "-qx"], "Unknown flag -x."],
  [["tenant", "list", "--no-json"], "Unknown flag --no-json."],
  [["tenant", "list", "--input"], "Unknown flag --input."],
  [["tenant", "list", "--__proto__=x"], "Unknown flag --__proto__."],
  [["tenant", "list", "-n", "demo"], "Unknown flag -n."],
  [["tenant", "list", "extra"], 'Unexpected argument "extra".'],
  [["tenant", "list", "--", "--json"], 'Unexpected argument "--json".'],
  [["tenant", "list", "--quiet=yes"], "--quiet takes no value."],
  [["tenant", "list", "--quiet", "-q"], "--quiet was given more than once."],
  [["tenant", "list", "--data-dir="], "--data-dir must not be empty."],
  [["tenant", "create"], "Missing <namespace>."],
  [["tenant", "create", ""], "<namespace> must not be empty."],
  [["tenant", "create", "demo", "--title"], "--title needs a value."],
  [["tenant", "create", "demo", "--title", "--yes"], "--title needs a value."],
  [["tenant", "create", "demo", "--title", "-5"], "--title needs a value."],
  [["tenant", "create", "demo", "--title", "a", "--title", "b"], "--title was given more than once."],
  [["tenant", "create", "demo", "demo"], 'Unexpected argument "demo".'],
  [["tenant", "create", "demo", "-n", "other"], "--namespace differs from the argument <namespace>."],
  [["key", "issue"], "Missing --namespace, --name."],
  [["key", "issue", "-n"], "--namespace needs a value."],
  [["origin", "add", "app_x"], "Missing <origin...>."],
  [["completion", "csh"], "<shell> must be one of bash, zsh, fish."],
  [["serve", "--log", "yaml"], "--log must be one of text, json."],
  [["serve", "--port", "http"], "--port must be a whole number from 0 to 65535"],
  [["serve", "--host", "my host"], "--host must be an IP address or a host name"],
  [["tenant"], 'Incomplete command "bodega tenant <subcommand>".'],
  [["constructor"], 'Unknown command "constructor".'],
  [["tenant", "constructor"], 'Unknown command "tenant constructor".'],
  [["help", "nothing"], 'Unknown command "nothing".'],
  [["--bogus", "tenant", "list"], "Unknown flag --bogus."],
];

describe("a wrong command line ends with exit code 2, and the error names the argument", () => {
  test.concurrent.each(mistakes)("%j", async (line, message) => {
    const at = line.indexOf("--");
    const args = at === -1 ? [...line, "--json"] : [...line.slice(0, at), "--json", ...line.slice(at)];
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(JSON.parse(stderr).error).toMatchObject({ message: expect.stringMatching(startOf(message)) });
  });
});

describe("a misspelt word gets a suggestion", () => {
  test.concurrent.each([
    [["tenat", "list"], 'Did you mean "bodega tenant"?'],
    [["tenant", "craete", "demo"], 'Did you mean "bodega tenant create"?'],
    [["tenant", "create", "demo", "--titel", "x"], "Did you mean --title?"],
    [["--jsno", "tenant", "list"], "Did you mean --json?"],
    [["completion", "bas"], "Did you mean bash?"],
    [["webhook", "add", "https://example.com"], "Did you mean --url?"],
  ])("%j", async (line, hint) => {
    const { code, stderr } = await run(line);
    expect(code).toBe(2);
    expect(stderr).toContain(hint);
  });
});

describe("equivalent forms of arguments give the same result", () => {
  const forms: string[][] = [
    ["tenant", "show", "nobody", "--json", "--yes", "--quiet"],
    ["--json", "tenant", "show", "nobody"],
    ["tenant", "--json", "show", "nobody"],
    ["-yq", "--json", "tenant", "show", "nobody"],
    ["-n", "nobody", "tenant", "show", "--json"],
    ["tenant", "show", "-nnobody", "--json"],
    ["tenant", "show", "-yqn", "nobody", "--json"],
    ["tenant", "show", "--namespace=nobody", "--json"],
    ["tenant", "show", "--json", "--", "nobody"],
    ["tenant", "show", "nobody", "-n", "nobody", "--json"],
  ];
  test.concurrent.each(forms)("%j", async (...line) => {
    const { code, stderr } = await run(line);
    expect({ code, message: JSON.parse(stderr).error.message }).toEqual({
      code: 3,
      message: 'Store "nobody" not found.',
    });
  });
});

test("a value that begins with a hyphen can be given after =", async () => {
  const { error } = await failure("tenant", "show", "nobody", "--data-dir=--json");
  expect(error.message).toEndWith("/--json.");
});

test("values that the parser citty alone would lose are kept: repeated flags, negative numbers, and flags that begin with no-", () => {
  const args: CommandArgs = {
    scope: { ...valueArg("text", "A list"), multiple: true },
    "no-docs": { type: "boolean", description: "A switch" },
    delta: wordArg("A number"),
    file: { ...wordArg("A list of words"), multiple: true },
  };
  const line = ["--scope", "a", "--no-docs", "--scope=b", "-12", "x", "--", "--scope"];
  expect(readArgs(line, args)).toMatchObject({
    scope: ["a", "b"],
    "no-docs": true,
    delta: "-12",
    file: ["x", "--scope"],
  });
  expect(readArgs([], args)).toMatchObject({ scope: [], "no-docs": false, file: [] });
});

test("flags take precedence over environment variables, and an empty variable counts as unset", async () => {
  const show = (env: Record<string, string>, ...args: string[]) => run(["tenant", "show", ...args], { env });
  expect((await show({ BODEGA_NAMESPACE: "from-env" })).stderr).toContain('"from-env"');
  expect((await show({ BODEGA_NAMESPACE: "from-env" }, "-n", "from-flag")).stderr).toContain('"from-flag"');
  expect(await show({ BODEGA_NAMESPACE: "" })).toMatchObject({ code: 2 });
});

function startOf(message: string): RegExp {
  return new RegExp(`^${message.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`);
}
