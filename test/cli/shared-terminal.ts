import { afterAll } from "bun:test";
import { join } from "node:path";
import { makeDir, type Step } from "./run-bodega.ts";

/** A command line for `terminal-program.ts`. After the output, it prints `end`, the exit code and a semicolon. */
export interface TerminalCall {
  args: string[];
  env: Record<string, string | undefined>;
  end: string;
}

type RunAtTerminal = (
  args: string[],
  steps: Step[],
  env: TerminalCall["env"],
) => Promise<{ code: number | null; screen: string }>;

/**
 * Call this at the top of a test file. The returned function runs commands at a pseudo-terminal, like `runAtTerminal`,
 * but all in one process. Tests of the end of a process, such as ctrl-D, need `runAtTerminal`.
 */
export function useSharedTerminal(columns: number): RunAtTerminal {
  let child: Bun.Subprocess | undefined;
  let calls = 0;
  let screen = "";
  let onOutput = (_type: (keys: string) => void) => {};

  afterAll(async () => {
    child?.kill("SIGKILL");
    await child?.exited;
  });

  function start(): Bun.Subprocess {
    const decoder = new TextDecoder();
    return Bun.spawn([process.execPath, join(import.meta.dir, "terminal-program.ts")], {
      env: { PATH: process.env.PATH, TERM: "xterm" },
      cwd: makeDir(),
      ipc() {},
      terminal: {
        cols: columns,
        rows: 40,
        data(terminal, bytes) {
          screen += decoder.decode(bytes, { stream: true });
          onOutput((keys) => terminal.write(keys));
        },
      },
    });
  }

  const run: RunAtTerminal = async (args, steps, env) => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) child = start();
    const running = child;
    const end = `\u0001end of call ${++calls}: `;
    const left = [...steps];
    const { promise: ended, resolve } = Promise.withResolvers<number>();
    let seen = 0;
    screen = "";
    onOutput = (type) => {
      const [output = "", code] = screen.split(end);
      if (code?.includes(";")) {
        screen = output;
        onOutput = () => {};
        return resolve(Number.parseInt(code, 10));
      }
      const [expect, send] = left[0] ?? [];
      if (expect === undefined || send === undefined || !screen.slice(seen).includes(expect)) return;
      left.shift();
      seen = screen.length;
      type(typeof send === "string" ? send : send());
    };
    const timer = setTimeout(() => running.kill("SIGKILL"), 10_000);
    running.send({ args, env: { TERM: "xterm", ...env }, end } satisfies TerminalCall);
    const code = await Promise.race([ended, running.exited.then(() => null)]);
    clearTimeout(timer);
    return { code, screen };
  };

  return async (...call) => {
    const outcome = await run(...call);
    // In a few of a hundred runs of all tests, Bun 1.4.5 crashes by chance, so the command runs again. A command that
    // causes the crash fails again.
    const hasCrashed = outcome.code === null && child?.signalCode !== "SIGKILL";
    return hasCrashed ? run(...call) : outcome;
  };
}
