import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Serving, watchServer } from "../support/serving.ts";
import { type Outcome, runHere } from "./run-here.ts";

interface RunOptions {
  env?: Record<string, string | undefined>;
  cwd?: string;
  /** Standard input. Default: empty. */
  input?: string | Uint8Array;
}

/**
 * The path of the built executable during a complete test run. Otherwise undefined, and tests run the program from its
 * source.
 */
const executable = process.env.BODEGA_TEST_EXECUTABLE;
const source = join(import.meta.dir, "../../src/cli/main.ts");
export const command = executable === undefined ? [process.execPath, source] : [executable];

const made: string[] = [];

afterAll(() => {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true, force: true });
});

/** Creates an empty directory, which is deleted when the test file ends. */
export function makeDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "bodega-cli-"));
  made.push(dir);
  return dir;
}

/** Starts the program as its next version, which has one more migration. */
export const nextVersion = [process.execPath, "--preload", join(import.meta.dir, "next-version.ts"), source];

/** Runs any program, such as a shell that calls Bodega. */
export async function runProgram(words: string[], { env, cwd = makeDir(), input }: RunOptions): Promise<Outcome> {
  const stdin = input === undefined ? "ignore" : Buffer.from(input);
  const child = Bun.spawn(words, { env, cwd, stdin, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, stdout, stderr };
}

interface ServeOptions {
  env: Record<string, string | undefined>;
  cwd?: string;
}

/** Returns a function that starts a server. The servers are stopped when the test file ends. */
export function useServers(whenDone = afterAll) {
  const running: Serving[] = [];
  whenDone(async () => {
    for (const server of running.splice(0)) await server.end("SIGKILL");
  });
  return async (args: string[], { env, cwd = makeDir() }: ServeOptions): Promise<Serving> => {
    const child = Bun.spawn([...command, ...args], { env, cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const server = watchServer(child);
    running.push(server);
    await server.ready();
    return server;
  };
}

/** Runs commands on one data directory, without a terminal and with an empty environment. */
export function openCli(dataDir = join(makeDir(), "data"), program = command) {
  const environment = (env: Record<string, string | undefined> = {}) => ({
    PATH: process.env.PATH,
    BODEGA_DATA_DIR: dataDir,
    ...env,
  });

  const run = (args: string[], { env, ...options }: RunOptions = {}) =>
    runProgram([...program, ...args], { env: environment(env), ...options });

  /** Runs a command like `run`, but in this process, for tests that check only the output. */
  const here = (args: string[], { env, input = "" }: Omit<RunOptions, "cwd"> = {}) =>
    runHere(args, { env: environment(env), input });

  // Runs the program in this process, because only its output is checked. Another version needs its own process. So
  // does a restore, because no other command can use the database until its process ends.
  const answer = (args: string[]): Promise<Outcome> => {
    const line = [...args, "--json"];
    return program === command && args[1] !== "restore" ? here(line) : run(line);
  };

  /** Runs a command that must succeed. Returns the JSON value that it prints. */
  async function json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await answer(args);
    if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  /** Runs a command that must fail. Returns its exit code and its error. */
  async function failure(...args: string[]): Promise<{ code: number | null; error: CliError }> {
    const { code, stdout, stderr } = await answer(args);
    if (stdout !== "") throw new Error(`an error beside an answer: ${stdout}`);
    return { code, error: (JSON.parse(stderr) as { error: CliError }).error };
  }

  return { dataDir, environment, run, here, json, failure };
}

interface CliError {
  code: number;
  message: string;
  remedy?: string;
  details?: { field: string; flag?: string; message: string }[];
}

/** A step at a terminal: when `expect` has appeared, the test types `send`, or the text that this function returns. */
export type Step = [expect: string, send: string | (() => string)];

interface TerminalOptions {
  env: Record<string, string | undefined>;
  columns?: number;
  /** Words before the command, such as those of a shell that redirects its output. */
  wrapper?: string[];
  /** The words that start the program. Default: from its source. */
  program?: string[];
}

/** Runs a command at a pseudo-terminal. `screen` is everything that the terminal received. */
export async function runAtTerminal(
  args: string[],
  steps: Step[],
  { env, columns = 100, wrapper = [], program = command }: TerminalOptions,
): Promise<{ code: number | null; screen: string }> {
  const decoder = new TextDecoder();
  let screen = "";
  let seen = 0;
  const left = [...steps];
  const child = Bun.spawn([...wrapper, ...program, ...args], {
    env: { TERM: "xterm", ...env },
    cwd: makeDir(),
    terminal: {
      cols: columns,
      rows: 40,
      data(terminal, bytes) {
        screen += decoder.decode(bytes, { stream: true });
        for (;;) {
          const [expect, send] = left[0] ?? [];
          const at = expect === undefined ? -1 : screen.indexOf(expect, seen);
          if (expect === undefined || send === undefined || at === -1) return;
          left.shift();
          // A step without an answer also matches output that arrived with the output of the previous step.
          seen = send === "" ? at + expect.length : screen.length;
          if (send !== "") return void terminal.write(typeof send === "string" ? send : send());
        }
      },
    },
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
  const code = await child.exited;
  clearTimeout(timer);
  child.terminal?.close();
  return { code: child.signalCode === null ? code : null, screen };
}

/** Removes colours and cursor movements from a screen. */
export function stripEscapes(screen: string): string {
  return Bun.stripANSI(screen).replaceAll("\r", "");
}
