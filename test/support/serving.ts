import { attempt } from "../../src/server/values/attempt.ts";
import type { TestApp } from "./app.ts";
import { openConnection, type RawConnection } from "./raw-http.ts";
import { until } from "./until.ts";

/** A server process under test. */
export interface Serving {
  url: string;
  port: number;
  pid: number;
  /** Returns the standard output so far. */
  stdout: () => string;
  log: () => string;
  /** Resolves when the server accepts requests. Throws with its log if it ends before that. */
  ready: () => Promise<void>;
  signal: (name: NodeJS.Signals) => void;
  /** Makes the server start its successor, which is then the server under test. */
  succeed: () => Promise<void>;
  /** The exit code; 128 plus the number of the signal, if a signal ended the process. */
  exited: Promise<number>;
  /** Sends a signal, and waits for the end of the server. */
  end: (name?: NodeJS.Signals) => Promise<number>;
  /** Opens a connection, on which bytes are sent unchanged. */
  connect: () => RawConnection;
}

/** Watches a server that was just started. */
export function watchServer(child: Bun.Subprocess<"ignore", "pipe", "pipe">): Serving {
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const signal = (name: NodeJS.Signals) =>
    server.pid === child.pid ? child.kill(name) : attempt(() => process.kill(server.pid, name));
  const announcements = () => stdout.text().split("listens on ").length;
  const server: Serving = {
    url: "",
    port: 0,
    pid: child.pid,
    stdout: stdout.text,
    log: stderr.text,
    signal,
    async succeed() {
      const known = announcements();
      signal("SIGUSR2");
      await until("the successor", () => announcements() > known);
      server.pid = Number(
        stderr
          .text()
          .match(/(?<=Process )\d+(?= replaces this one)/g)
          ?.at(-1),
      );
    },
    exited: child.exited,
    async ready() {
      server.url = await until("the server's announcement", () => {
        if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}: ${stderr.text()}`);
        return /(?:listens on |"url":"|API reference: )(https?:\/\/[^"\s/]+)[\s\S]*\n/.exec(stdout.text())?.[1];
      });
      server.port = Number(new URL(server.url).port);
    },
    async end(name = "SIGTERM") {
      signal(name);
      const code = await child.exited;
      // The pipes may still contain the last output.
      await Promise.all([stdout.done, stderr.done]);
      return code;
    },
    connect: () => openConnection({ port: server.port } as TestApp),
  };
  return server;
}

function collect(stream: ReadableStream<Uint8Array>): { text: () => string; done: Promise<void> } {
  const decoder = new TextDecoder();
  let text = "";
  const read = async () => {
    for await (const chunk of stream) text += decoder.decode(chunk, { stream: true });
  };
  return { text: () => text, done: read().catch(() => {}) };
}
