import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Serving, watchServer } from "../support/serving.ts";
import { type Outcome, runHere } from "./run-here.ts";

interface RunOptions {
  env?: Record<string, string | undefined>;
  cwd?: string;
  /** Standard input; empty unless given. */
  input?: string | Uint8Array;
}

/** How to start the program in its own process: the built executable in the whole check, otherwise the source. */
const executable = process.env.BODEGA_TEST_EXECUTABLE;
const source = join(import.meta.dir, "../../src/cli/main.ts");
export const command = executable === undefined ? [process.execPath, source] : [executable];

const made: string[] = [];

afterAll(() => {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true, force: true });
});

/** A new empty directory that is deleted when the test file ends. */
export function makeDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "bodega-cli-"));
  made.push(dir);
  return dir;
}

/** The program with one more migration, as its next version may have it. */
export const nextVersion = [process.execPath, "--preload", join(import.meta.dir, "next-version.ts"), source];

/** Runs a program, such as a shell that calls this one. */
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

/** Registers the end of the servers that a test file starts, and returns the function that starts one. */
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

  /** As `run`, within this process, where only the output is checked. */
  const here = (args: string[], { env, input = "" }: Omit<RunOptions, "cwd"> = {}) =>
    runHere(args, { env: environment(env), input });

  // Only the answer is checked, so the program runs within this process, unless it is another version, or restores, which
  // keeps other commands from the database until the process ends.
  const answer = (args: string[]): Promise<Outcome> => {
    const line = [...args, "--json"];
    return program === command && args[1] !== "restore" ? here(line) : run(line);
  };

  /** Runs a command that must succeed, and returns its one JSON value. */
  async function json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await answer(args);
    if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  /** Runs a command that must fail, and returns its exit code and the error from standard error. */
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

/** One exchange at a terminal: once `expect` has appeared, `send` is typed, or what it returns then. */
export type Step = [expect: string, send: string | (() => string)];

interface TerminalOptions {
  env: Record<string, string | undefined>;
  columns?: number;
  /** Words before the command, such as a shell that redirects its output. */
  wrapper?: string[];
  /** How the program is started; from its source unless given. */
  program?: string[];
}

/** Runs a command at a real pseudo-terminal; `screen` is all that the terminal received, on either stream. */
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
          // Without an answer, what the next step expects can have arrived together with this.
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

/** A screen without its colours and cursor movements. */
export function stripEscapes(screen: string): string {
  return Bun.stripANSI(screen).replaceAll("\r", "");
}
