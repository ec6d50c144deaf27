import type { Console } from "./console.ts";
import { openExport } from "./export-file.ts";
import { startProgress } from "./progress.ts";

interface Export {
  /** The value of `--output`. */
  output: string;
  /** Permissions of a new file. */
  mode?: number;
  /** Written before the first page; empty for none. */
  header: string;
  /** Plural noun of the exported records, for the progress bar. */
  noun: string;
  /** How many there are, where that is known. */
  total?: number | undefined;
  pages: AsyncIterable<{ text: string; count: number }>;
}

/**
 * Writes pages to the output with a progress bar. The file appears when it is complete, and not at all on an error.
 * @returns the path is undefined for standard output.
 * @throws the errors of `openExport` and of the pages.
 */
export async function writeExport(
  console: Console,
  { output, mode, header, noun, total, pages }: Export,
): Promise<{ count: number; path: string | undefined }> {
  const target = await openExport(console, output, mode === undefined ? {} : { mode });
  const progress = startProgress(target.isOnScreen ? { ...console, screen: undefined } : console, total);
  let count = 0;
  try {
    if (header !== "") await target.write(header);
    for await (const page of pages) {
      await target.write(page.text);
      count += page.count;
      progress.show(count, `${count} ${noun}`);
      if (target.isAbandoned()) break;
    }
    await target.finish();
  } catch (error) {
    await target.discard();
    throw error;
  } finally {
    progress.end();
  }
  return { count, path: target.path };
}
