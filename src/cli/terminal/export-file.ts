import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { open, realpath, rename, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { internalError } from "../../server/errors.ts";
import { countOf } from "../../server/health/finding.ts";
import { type Console, info, invalidFlag, printJson } from "./console.ts";
import { withProgress } from "./progress.ts";
import { confirmAction } from "./prompt.ts";
import { onExit } from "./terminal.ts";
import { escapeJson } from "./text.ts";

/** Returns the format of an export. Asks before replacing a file. @throws malformedRequest for `--json` without file */
export async function prepareExport(console: Console, args: { output: string; format?: "csv" | "ndjson" | undefined }) {
  if (console.json && args.output === "-") throw invalidFlag("--json", "requires --output <file>");
  const path = resolve(args.output);
  const isFile = args.output !== "-" && (await stat(path).catch(() => undefined))?.isFile();
  if (isFile) await confirmAction(console, `Replace the file ${path}?`);
  return args.format ?? formatOf(args.output) ?? "csv";
}

export function formatOf(path: string): "csv" | "ndjson" | undefined {
  if (/\.(?:csv|tsv|txt)$/i.test(path)) return "csv";
  return /\.(?:ndjson|jsonl)$/i.test(path) ? "ndjson" : undefined;
}

interface Export<T> {
  output: string;
  format: "csv" | "ndjson";
  mode?: number;
  header: string;
  noun: string;
  total?: number | undefined;
  pages: Iterable<readonly T[]> | AsyncIterable<readonly T[]>;
  render(page: readonly T[]): string;
}

/** Writes pages to a file, pipe or device, with a progress bar. A failed export leaves no file. */
export async function writeExport<T>(
  console: Console,
  { output, format, mode = 0o666, header, noun, total, pages, render }: Export<T>,
): Promise<void> {
  const isStandard = output === "-";
  const target = isStandard ? standardOutput(console) : await openFile(output, mode);
  const screen = isStandard && console.stdoutIsTerminal ? undefined : console.screen;
  let count = 0;
  try {
    await withProgress({ ...console, screen }, total, async (show) => {
      if (header !== "") await target.write(header);
      for await (const page of pages) {
        await target.write(render(page));
        count += page.length;
        show(count, `${count} ${noun}`);
        if (isStandard && !console.hasReader()) break;
      }
      await target.finish();
    });
  } catch (error) {
    await target.discard();
    throw error;
  }
  const { path } = target;
  if (console.json) await printJson(console, { exported: count, format, output: path });
  else if (path !== undefined) await info(console, `Exported ${countOf(count, noun.slice(0, -1))} to ${path}`);
}

function standardOutput(console: Console) {
  const write = (text: string) => console.write(console.stdoutIsTerminal ? escapeJson(text) : text);
  return { path: undefined, write, finish: async () => {}, discard: async () => {} };
}

/** Opens a file under a temporary name, and `finish` gives it its final name. Opens a pipe or device directly. */
async function openFile(given: string, mode: number) {
  const path = await realpath(given).catch(() => resolve(given));
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) throw invalidFlag("--output", `is a directory: ${path}`);
  const isPlain = found === undefined || found.isFile();
  const place = isPlain ? join(dirname(path), `.${basename(path)}.${randomUUID().slice(0, 8)}.part`) : path;
  const file = await open(place, isPlain ? "wx" : "w", found?.isFile() ? found.mode & 0o777 : mode).catch((error) => {
    throw invalidFlag("--output", `cannot be created (${error.code}): ${path}`);
  });
  const remove = () => isPlain && rmSync(place, { force: true });
  const stopCleanUp = onExit(remove);
  const failed = (cause: NodeJS.ErrnoException) => {
    throw internalError(`${path} could not be written (${cause.code}).`, { cause });
  };
  const publish = async () => {
    if (isPlain) await file.sync();
    await file.close();
    if (isPlain) await rename(place, path);
  };
  return {
    path,
    write: (text: string) => file.writeFile(text).catch(failed),
    finish: () => publish().then(stopCleanUp, failed),
    async discard() {
      await file.close().catch(() => {});
      remove();
      stopCleanUp();
    },
  };
}
