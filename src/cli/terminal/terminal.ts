import { isUtf8 } from "node:buffer";
import { setPriority } from "node:os";
import { internalError, validationFailed } from "../../server/errors.ts";
import { formatBytes } from "../../server/values/units.ts";

export type Terminal = ReturnType<typeof openTerminal>;

const interruptedExitCode = 130;
const terminatedExitCode = 143;
const defaultColumns = 80;
/** How long a command may clean up after ctrl-C. The time is limited, because a remote service may never answer. */
const cleanUpMs = 5000;
const endings = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Returns the terminal of a process. SIGINT ends the process with exit code 130, until `releaseSignals` is called. */
export function openTerminal(host: NodeJS.Process) {
  const interrupt = () => host.exit(interruptedExitCode);
  host.on("SIGINT", interrupt);
  // Without a listener, the event `error` of a stream would end the process. The callbacks of `write` report failures.
  for (const stream of [host.stdout, host.stderr]) {
    stream.on("error", () => {});
    // Some terminals report a width of 0.
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
    /** Standard error, for progress bars; undefined if it is no terminal. */
    screen: host.stderr.isTTY ? host.stderr : undefined,
    /** Writes to standard output. A closed pipe (`| head`) is no error, a full disk is one. */
    async write(text: string): Promise<void> {
      const failure = await writeTo(host.stdout, text);
      if (failure?.code === "EPIPE") isRead = false;
      if (failure === undefined || !isRead) return;
      throw internalError(`The result could not be written to standard output (${failure.code ?? "unknown"}).`);
    },
    /** Returns false after a write to a closed pipe, so that long output can stop. */
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
    streamInput: () => host.stdin as AsyncIterable<Uint8Array>,
    /** Calls `act` at the next SIGINT. The process ends at most five seconds later, or at a second SIGINT. */
    onInterrupt(act: () => void): void {
      host.off("SIGINT", interrupt);
      host.once("SIGINT", () => {
        host.on("SIGINT", interrupt);
        setTimeout(interrupt, cleanUpMs).unref();
        act();
      });
    },
    /** Keeps signals from ending the process. Returns a function that allows them again, and returns the first signal. */
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
    /** Sets the priority of this process: 0 is the usual one, 19 the lowest. */
    setPriority: (priority: number) => setPriority(priority),
    /** Removes the listener of SIGINT, for a command that has one of its own. */
    releaseSignals: () => void host.off("SIGINT", interrupt),
  };
}

/** Runs `cleanUp` when the process ends, also by SIGTERM. Returns a function that removes the handler. */
export function onExit(cleanUp: () => void): () => void {
  // By default, SIGTERM ends the process without its exit handlers, so this listener calls `exit`.
  const terminate = () => process.exit(terminatedExitCode);
  process.once("exit", cleanUp).once("SIGTERM", terminate);
  return () => void process.off("exit", cleanUp).off("SIGTERM", terminate);
}

function writeTo(stream: NodeJS.WriteStream, text: string): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    stream.write(text, (error) => resolve(error ?? undefined));
  });
}
