import { join } from "node:path";

/** A child process that prints lines. child.ts describes its roles. */
export interface Child {
  /** Returns the next line; undefined at the end. */
  nextLine(): Promise<string | undefined>;
  /** Returns all remaining lines. */
  restLines(): Promise<string[]>;
  write(text: string): void;
  /** Kills the process with SIGKILL. */
  kill(): void;
  exited: Promise<number>;
}

/** Starts a role of child.ts. The child ends when this process ends. */
export function spawnChild(...args: string[]): Child {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "child.ts"), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const exited = child.exited.finally(() => process.off("exit", kill));
  const lines = readLines(child.stdout);
  return {
    nextLine: async () => (await lines.next()).value,
    async restLines() {
      const rest: string[] = [];
      for await (const line of lines) rest.push(line);
      return rest;
    },
    write(text) {
      child.stdin.write(text);
      child.stdin.flush();
    },
    kill,
    exited,
  };
}

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  // An incomplete line is not returned.
  return undefined;
}
