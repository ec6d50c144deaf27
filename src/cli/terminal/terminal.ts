import { addAbortSignal } from "node:stream";
import { internalError, validationFailed } from "../../server/errors.ts";
import { formatBytes } from "../../server/values/bytes.ts";

export type Terminal = ReturnType<typeof openTerminal>;

const interruptedExitCode = 130;
const terminatedExitCode = 143;
const defaultColumns = 80;
const endings = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Ties a `Terminal` to the running process, and ends the process with 130 on SIGINT until signals are released. */
export function openTerminal(host: NodeJS.Process) {
  const interrupt = () => host.exit(interruptedExitCode);
  host.on("SIGINT", interrupt);
  // Failures reach the callbacks of write; without a listener the same event would end the process.
  for (const stream of [host.stdout, host.stderr]) {
    stream.on("error", () => {});
    // A terminal that does not know its width says 0.
    if (stream.isTTY) stream.columns ||= defaultColumns;
  }
  let isRead = true;
  return {
    env: host.env,
    stdinIsTerminal: host.stdin.isTTY === true,
    stdoutIsTerminal: host.stdout.isTTY === true,
    stderrIsTerminal: host.stderr.isTTY === true,
    /** Columns of the terminal that standard output goes to; undefined when it goes elsewhere. */
    columns: host.stdout.isTTY ? host.stdout.columns : undefined,
    /** Standard error where it is a terminal, to draw on. */
    screen: host.stderr.isTTY ? host.stderr : undefined,
    /** Writes the answer to standard output. A closed pipe (`| head`) is no error, a full disk is. */
    async write(text: string): Promise<void> {
      const failure = await writeTo(host.stdout, text);
      if (failure?.code === "EPIPE") isRead = false;
      if (failure === undefined || !isRead) return;
      throw internalError(`The result could not be written to standard output (${failure.code ?? "unknown"}).`);
    },
    /** Whether standard output still has a reader, as far as writes have shown. Long output stops without one. */
    hasReader: () => isRead,
    /** Writes to standard error: notes, questions, errors. Never throws. */
    async writeError(text: string): Promise<void> {
      await writeTo(host.stderr, text);
    },
    /** Reads standard input to its end. Errors: validationFailed when it is longer than `maxBytes` or not UTF-8. */
    async readInput(maxBytes: number): Promise<string> {
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of host.stdin as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        size += chunk.length;
        if (size > maxBytes) throw validationFailed(`Standard input is longer than ${formatBytes(maxBytes)}.`);
      }
      try {
        return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
      } catch (cause) {
        throw validationFailed("Standard input is not UTF-8 text.", { cause });
      }
    },
    /** Standard input in pieces as they come, until its end or until `signal`, which ends it with an error. */
    streamInput: (signal: AbortSignal) => addAbortSignal(signal, host.stdin) as AsyncIterable<Uint8Array>,
    /** Has the next SIGINT call `act` instead of ending the process; the one after that ends it. */
    onInterrupt(act: () => void): void {
      host.off("SIGINT", interrupt);
      host.once("SIGINT", () => {
        host.on("SIGINT", interrupt);
        act();
      });
    },
    /** From now on signals do not end the process, until the returned function is called, which returns the first. */
    holdSignals(): () => NodeJS.Signals | undefined {
      let first: NodeJS.Signals | undefined;
      const record = (signal: NodeJS.Signals) => {
        first ??= signal;
      };
      host.off("SIGINT", interrupt);
      for (const signal of endings) host.on(signal, record);
      return () => {
        for (const signal of endings) host.off(signal, record);
        host.on("SIGINT", interrupt);
        return first;
      };
    },
    /** Leaves SIGINT and SIGTERM to the command, for one that runs until it is stopped. */
    releaseSignals: () => void host.off("SIGINT", interrupt),
  };
}

/** Has `cleanUp` run when the process ends, also by SIGTERM. Returns a function that undoes this. */
export function onExit(cleanUp: () => void): () => void {
  // Without a listener, SIGTERM ends the process without its exit handlers.
  const terminate = () => process.exit(terminatedExitCode);
  process.once("exit", cleanUp).once("SIGTERM", terminate);
  return () => void process.off("exit", cleanUp).off("SIGTERM", terminate);
}

function writeTo(stream: NodeJS.WriteStream, text: string): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    stream.write(text, (error) => resolve(error ?? undefined));
  });
}
