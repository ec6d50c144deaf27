import type { Ctx } from "../../../context.ts";
import { inDryRun, inSavepoint, inTransaction } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import { explainFaults } from "./import-faults.ts";
import type { ImportItem, RowFault } from "./import-item.ts";
import { UnreadableInput } from "./import-item.ts";
import { type ImportOutcome, importProduct } from "./import-product.ts";

/** So many products are gathered before a transaction begins, which is ended after so long: others wait for it. */
const portionSize = 500;
const longestHoldMs = 100;
const maxFaults = 100;

/** How to import. */
export interface ImportOptions {
  /** What a product at fault does to those after it; those before it stand. */
  onError: "stop" | "skip";
  /** Everything is done as in earnest, and undone portion by portion. */
  isDryRun: boolean;
  /** Ends the import after the portion in hand. */
  signal?: AbortSignal;
  /** Told after each portion. */
  onProgress?: (result: ImportResult) => void;
}

/** What has become of the products of a file: what is counted here is committed. */
export interface ImportResult {
  created: number;
  updated: number;
  unchanged: number;
  failed: number;
  /** The first hundred faults. */
  errors: RowFault[];
  /** How many faults there were beyond these. */
  errors_omitted: number;
  /** Why the rest of the file was left alone: a line at fault, ctrl-C, trouble besides; null when all of it was read. */
  stopped: "error" | "interrupted" | "failure" | null;
  /** The line of the last product that was looked at, 0 for none. */
  last_line: number;
}

/** What stopped an import other than a line at fault, such as a full disk, with what was written before. */
export class ImportFailure extends Error {
  readonly result: ImportResult;

  constructor(result: ImportResult, cause: unknown) {
    super("The import broke off.", { cause });
    this.result = result;
  }
}

/**
 * Creates and changes products, portion by portion, each portion a transaction of its own and each product whole or not
 * at all.
 * @throws ImportFailure for what is no product's fault; AppError validationFailed for a file whose header is wrong, and nothing is written.
 */
export async function importProducts(
  ctx: Ctx,
  items: AsyncIterable<ImportItem>,
  options: ImportOptions,
): Promise<ImportResult> {
  const result: ImportResult = {
    created: 0,
    updated: 0,
    unchanged: 0,
    failed: 0,
    errors: [],
    errors_omitted: 0,
    stopped: null,
    last_line: 0,
  };
  try {
    for await (const portion of takePortions(items)) {
      const { items, unreadable } = portion;
      for (let done = 0; done < items.length && result.stopped === null; ) {
        if (options.signal?.aborted) result.stopped = "interrupted";
        else done += await importPortion(ctx, items.slice(done), result, options);
      }
      if (unreadable && result.stopped === null) addFaults(result, [unreadable.fault]);
      if (unreadable) result.stopped ??= "error";
      if (result.stopped !== null) break;
    }
  } catch (error) {
    // The reader of the file ends with an error when it is told to stop.
    if (options.signal?.aborted && (error as Error).name === "AbortError") return { ...result, stopped: "interrupted" };
    if (result.last_line === 0 && error instanceof AppError) throw error;
    throw new ImportFailure({ ...result, stopped: "failure" }, error);
  }
  return result;
}

interface Portion {
  items: ImportItem[];
  unreadable?: UnreadableInput;
}

async function* takePortions(items: AsyncIterable<ImportItem>): AsyncGenerator<Portion> {
  let portion: ImportItem[] = [];
  try {
    for await (const item of items) {
      portion.push(item);
      if (portion.length < portionSize) continue;
      yield { items: portion };
      portion = [];
    }
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
    yield { items: portion, unreadable: error };
    return;
  }
  yield { items: portion };
}

/** One transaction with as many of the items as it has time for; returns how many. */
async function importPortion(ctx: Ctx, items: ImportItem[], result: ImportResult, options: ImportOptions) {
  const transact = options.isDryRun ? inDryRun<Ctx, Seen[]> : inTransaction<Ctx, Seen[]>;
  const seen = await transact(ctx, async (tx) => {
    const seen: Seen[] = [];
    const until = performance.now() + longestHoldMs;
    for (const item of items) {
      const outcome = await importOne(tx, item);
      seen.push({ item, outcome });
      if (performance.now() > until || (Array.isArray(outcome) && options.onError === "stop")) break;
    }
    return seen;
  });
  for (const { item, outcome } of seen) {
    result.last_line = item.line;
    if (typeof outcome === "string") {
      result[outcome]++;
      continue;
    }
    addFaults(result, outcome);
    if (options.onError === "stop") result.stopped = "error";
  }
  options.onProgress?.(result);
  return seen.length;
}

interface Seen {
  item: ImportItem;
  outcome: ImportOutcome | RowFault[];
}

async function importOne(tx: Ctx, item: ImportItem): Promise<ImportOutcome | RowFault[]> {
  if (item.faults.length > 0) return item.faults;
  try {
    return await inSavepoint(tx, () => importProduct(tx, item));
  } catch (error) {
    // What has no name, and unavailable, is the database's trouble or a mistake of ours: no line is at fault.
    if (!(error instanceof AppError) || error.kind === "internalError" || error.kind === "unavailable") throw error;
    return explainFaults(error, item);
  }
}

function addFaults(result: ImportResult, faults: RowFault[]): void {
  result.failed++;
  const told = faults.slice(0, maxFaults - result.errors.length);
  result.errors.push(...told);
  result.errors_omitted += faults.length - told.length;
}
