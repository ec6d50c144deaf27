import { isUtf8 } from "node:buffer";
import { setPriority } from "node:os";
import { addAbortSignal } from "node:stream";
import { internalError, validationFailed } from "../../server/errors.ts";
import { formatBytes } from "../../server/values/units.ts";

export type Terminal = ReturnType<typeof openTerminal>;

const interruptedExitCode = 130;
const terminatedExitCode = 143;
const defaultColumns = 80;
/** A service that does not answer must not keep an interrupted command running. */
const cleanUpMs = 5000;
const endings = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Connects a `Terminal` to the running process. SIGINT ends the process with 130 until signals are released. */
export function openTerminal(host: NodeJS.Process) {
  const interrupt = () => host.exit(interruptedExitCode);
  host.on("SIGINT", interrupt);
  // Callbacks of write report failures; without a listener, the event would end the process.
  for (const stream of [host.stdout, host.stderr]) {
    stream.on("error", () => {});
    // A terminal that does not know its width reports 0.
    if (stream.isTTY) stream.columns ||= defaultColumns;
  }
  let isRead = true;
  return {
    env: host.env,
    stdinIsTerminal: host.stdin.isTTY === true,
    stdoutIsTerminal: host.stdout.isTTY === true,
    stderrIsTerminal: host.stderr.isTTY === true,
    /** Columns of the terminal on standard output; undefined if it is no terminal. */
    columns: host.stdout.isTTY ? host.stdout.columns : undefined,
    /** Standard error if it is a terminal, to draw on. */
    screen: host.stderr.isTTY ? host.stderr : undefined,
    /** Writes to standard output. A closed pipe (`| head`) is no error, a full disk is one. */
    async write(text: string): Promise<void> {
      const failure = await writeTo(host.stdout, text);
      if (failure?.code === "EPIPE") isRead = false;
      if (failure === undefined || !isRead) return;
      throw internalError(`The result could not be written to standard output (${failure.code ?? "unknown"}).`);
    },
    /** Whether standard output still has a reader, as far as writes have shown. Without one, long output stops. */
    hasReader: () => isRead,
    /** Writes to standard error: notes, questions, errors. Never throws. */
    async writeError(text: string): Promise<void> {
      await writeTo(host.stderr, text);
    },
    /** Reads standard input to its end. Errors: validationFailed if it is longer than `maxBytes` or not UTF-8. */
    async readInput(maxBytes: number): Promise<string> {
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of host.stdin as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        size += chunk.length;
        if (size > maxBytes) throw validationFailed(`Standard input is longer than ${formatBytes(maxBytes)}.`);
      }
      const bytes = Buffer.concat(chunks);
      if (!isUtf8(bytes)) throw validationFailed("Standard input is not UTF-8 text.");
      return bytes.toString();
    },
    /** Yields standard input in pieces until its end. Throws if `signal` is aborted. */
    streamInput: (signal: AbortSignal) => addAbortSignal(signal, host.stdin) as AsyncIterable<Uint8Array>,
    /** The next SIGINT calls `act`. A second SIGINT ends the process; so does a timeout if `act` has not ended it. */
    onInterrupt(act: () => void): void {
      host.off("SIGINT", interrupt);
      host.once("SIGINT", () => {
        host.on("SIGINT", interrupt);
        setTimeout(interrupt, cleanUpMs).unref();
        act();
      });
    },
    /** Until the returned function is called, signals do not end the process. The function returns the first signal. */
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
    /** Gives the processor to other processes first: 0 is the usual priority, 19 the lowest. */
    setPriority: (priority: number) => setPriority(priority),
    /** Leaves SIGINT and SIGTERM to a command that runs until it is stopped. */
    releaseSignals: () => void host.off("SIGINT", interrupt),
  };
}

/** Runs `cleanUp` when the process ends, even by SIGTERM. Returns a function that cancels this. */
export function onExit(cleanUp: () => void): () => void {
  // Without a listener, SIGTERM would end the process without its exit handlers.
  const terminate = () => process.exit(terminatedExitCode);
  process.once("exit", cleanUp).once("SIGTERM", terminate);
  return () => void process.off("exit", cleanUp).off("SIGTERM", terminate);
}

function writeTo(stream: NodeJS.WriteStream, text: string): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    stream.write(text, (error) => resolve(error ?? undefined));
  });
}
