import { type LogLevel, logLevels } from "../config/server-config.ts";
import { formatRequest, type RequestLogEntry } from "./request-log.ts";

export type LogWriter = ReturnType<typeof createLogWriter>;

const delayMs = 50;
/** Maximum characters of one write. A write of up to 4 KiB to a pipe is not split, so lines of workers do not mix. */
const maxBuffered = { ofSeveral: 4000, ofOne: 64_000 };
/** Maximum characters that wait. Further text is dropped, so that a blocked log does not fill the memory. */
const maxWaiting = 1 << 20;

/** Creates a log that collects lines for a moment. It calls `write` for one text at a time. */
export function createLogWriter(
  form: "text" | "json",
  write: (text: string) => Promise<unknown>,
  minLevel: LogLevel = "info",
  writers: keyof typeof maxBuffered = "ofSeveral",
) {
  const written = new Set(logLevels.slice(logLevels.indexOf(minLevel)));
  let buffered = "";
  let waiting = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let writing = Promise.resolve();

  function send(): void {
    clearTimeout(timer);
    timer = undefined;
    if (buffered === "") return;
    const text = buffered;
    buffered = "";
    if (waiting > maxWaiting) return;
    waiting += text.length;
    const end = () => {
      waiting -= text.length;
    };
    // A failing log cannot report its own failure, so the failure is ignored.
    writing = writing.then(() => write(text)).then(end, end);
  }

  function add(line: string): void {
    if (buffered.length + line.length > maxBuffered[writers]) send();
    buffered += line;
    timer ??= setTimeout(send, delayMs);
  }

  return {
    request: (entry: RequestLogEntry) => {
      if (written.has(entry.level)) add(formatRequest(entry, form));
    },
    notice: (level: "info" | "warn" | "error", message: string) => {
      if (!written.has(level)) return;
      const time = new Date().toISOString();
      const json = JSON.stringify({ time, level, message });
      add(form === "json" ? `${json}\n` : `${time} ${level.toUpperCase()} ${message}\n`);
    },
    flush: () => {
      send();
      return writing;
    },
  };
}
