import { type LogLevel, logLevels } from "../config/server-config.ts";
import { formatRequest, type LogRequest } from "./request-log.ts";

/** Where log lines go, gathered so that a request never waits for its line. */
export interface LogWriter {
  request: LogRequest;
  /** A sentence of the server itself. */
  notice(level: "info" | "warn" | "error", message: string): void;
  flush(): Promise<void>;
}

/** Lines are handed on together, at the latest after this many milliseconds. */
const delayMs = 50;
/** Within this size a pipe takes what is written as a whole, so lines of several workers do not mix. */
const maxGathered = 4000;
/** When nobody reads the log, what is lost is the log and not the memory. */
const maxWaiting = 1 << 20;

/**
 * Makes the log's writer on standard error.
 * @param write hands a text to the system; called one at a time.
 * @param least what is less loud is not written.
 */
export function createLogWriter(
  form: "text" | "json",
  write: (text: string) => Promise<unknown>,
  least: LogLevel = "info",
): LogWriter {
  const isWritten = (level: LogLevel) => logLevels.indexOf(level) >= logLevels.indexOf(least);
  let gathered: string[] = [];
  let size = 0;
  let waiting = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let writing: Promise<unknown> = Promise.resolve();

  function hand(): void {
    clearTimeout(timer);
    timer = undefined;
    if (size === 0) return;
    const text = gathered.join("");
    gathered = [];
    size = 0;
    if (waiting > maxWaiting) return;
    waiting += text.length;
    writing = writing
      .then(() => write(text))
      .catch(() => {
        // There is nowhere left to report that the log itself cannot be written.
      })
      .then(() => {
        waiting -= text.length;
      });
  }

  function add(line: string): void {
    if (size + line.length > maxGathered) hand();
    gathered.push(line);
    size += line.length;
    timer ??= setTimeout(hand, delayMs);
  }

  return {
    request: (entry) => {
      if (isWritten(entry.level)) add(formatRequest(entry, form));
    },
    notice: (level, message) => {
      if (!isWritten(level)) return;
      const time = new Date().toISOString();
      add(
        form === "json"
          ? `${JSON.stringify({ time, level, message })}\n`
          : `${time} ${level.toUpperCase()} ${message}\n`,
      );
    },
    flush: () => {
      hand();
      return writing.then(() => undefined);
    },
  };
}
