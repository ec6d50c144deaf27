import type { Ctx } from "../../../context.ts";
import { inDryRun, inSavepoint, inTransaction } from "../../../db/transaction.ts";
import { AppError, invalidField } from "../../../errors.ts";
import { type ImportItem, type RowError, rowsTogether } from "./import-item.ts";
import { type ImportOutcome, identifyingKeys, importProduct } from "./import-product.ts";

/** Maximum products and time of a transaction, because other writes wait for its end. */
const batchSize = 500;
const maxTransactionMs = 100;
const maxErrors = { import: 100, dryRun: 100_000 };
const maxChanges = 20;

export interface ImportOptions {
  /** What to do at an invalid product. The products before it are written in both cases. */
  onError: "stop" | "skip";
  isDryRun: boolean;
  signal?: AbortSignal;
  onProgress?: (result: ImportResult) => void;
}

export type ImportResult = ReturnType<typeof newResult>;

const newResult = () => ({
  created: 0,
  updated: 0,
  unchanged: 0,
  failed: 0,
  /** The first twenty new products, with `fields: null`, and the first twenty updated products. */
  changes: [] as { line: number; title: string; fields: string[] | null }[],
  errors: [] as RowError[],
  errors_omitted: 0,
  /** Why the rest of the file was not imported; null if the import reached the end of the file. */
  stopped: null as "error" | "interrupted" | "failure" | null,
  last_line: 0,
});

/** An import failed for a reason outside its file, such as a full disk. `result` is what was done before. */
export class ImportFailure extends Error {
  readonly result: ImportResult;

  constructor(result: ImportResult, cause: unknown) {
    super("The import failed.", { cause });
    this.result = result;
  }
}

/** Imports products, each completely or not at all. Errors: ImportFailure; validationFailed for a bad header. */
export async function importProducts(ctx: Ctx, items: AsyncIterable<ImportItem>, options: ImportOptions) {
  const result = newResult();
  const lines: KeyLines = new Map();
  try {
    for await (const batch of inBatches(items)) {
      for (let done = 0; done < batch.length && result.stopped === null; ) {
        done += await importBatch(ctx, batch.slice(done), result, { ...options, lines });
      }
      if (result.stopped !== null) break;
    }
    return result;
  } catch (error) {
    // An aborted signal makes reading the file throw an AbortError.
    const isAborted = options.signal?.aborted && (error as Error).name === "AbortError";
    result.stopped = isAborted ? "interrupted" : "failure";
    if (isAborted) return result;
    if (result.last_line === 0 && error instanceof AppError) throw error;
    throw new ImportFailure(result, error);
  }
}

async function* inBatches(items: AsyncIterable<ImportItem>): AsyncGenerator<ImportItem[]> {
  let batch: ImportItem[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

async function importBatch(ctx: Ctx, items: ImportItem[], result: ImportResult, options: BatchOptions) {
  const { lines, onError, isDryRun, signal, onProgress } = options;
  if (signal?.aborted) {
    result.stopped = "interrupted";
    return 0;
  }
  const isLast = (item: ImportItem) => item.isLast || onError === "stop";
  const all = await (isDryRun ? inDryRun : inTransaction)(ctx, async (tx: Ctx) => {
    const done: { item: ImportItem; outcome: ImportOutcome | RowError[] }[] = [];
    const until = performance.now() + maxTransactionMs;
    for (const item of items) {
      const outcome = await importOne(tx, item, lines);
      done.push({ item, outcome });
      if (performance.now() > until || (Array.isArray(outcome) && isLast(item))) break;
    }
    return done;
  });
  for (const { item, outcome } of all) {
    result.last_line = item.line;
    recordOutcome(result, item.line, outcome, isDryRun ? maxErrors.dryRun : maxErrors.import);
    if (Array.isArray(outcome) && isLast(item)) result.stopped = "error";
  }
  onProgress?.(result);
  return all.length;
}

function recordOutcome(result: ImportResult, line: number, outcome: ImportOutcome | RowError[], max: number): void {
  if (outcome === "unchanged") result.unchanged++;
  else if (!Array.isArray(outcome)) {
    if (++result[outcome.fields ? "updated" : "created"] <= maxChanges) result.changes.push({ line, ...outcome });
  } else {
    result.failed++;
    const shown = outcome.slice(0, max - result.errors.length);
    result.errors.push(...shown);
    result.errors_omitted += outcome.length - shown.length;
  }
}

/** The line of each key of a product. A later item with the same key would change the same product. */
type KeyLines = Map<string, number>;
type BatchOptions = ImportOptions & { lines: KeyLines };

async function importOne(tx: Ctx, item: ImportItem, lines: KeyLines): Promise<ImportOutcome | RowError[]> {
  if (item.faults.length > 0) return item.faults;
  const claimed: string[] = [];
  const claim = (field: string, key: string) => {
    claimed.push(key);
    const line = lines.get(key) ?? item.line;
    // If the transaction runs again, `lines` already has this item's key.
    if (line === item.line) return;
    if (key.startsWith("sku:")) throw invalidField(field, `is also in line ${line}`);
    const [what, remedy] = key.startsWith("id:")
      ? ["is the product", "Delete one of the lines"]
      : ["has the slug", "Give both products a SKU"];
    throw invalidField(field, `${what} of line ${line}. ${item.variants.length > 0 ? rowsTogether : remedy}`);
  };
  try {
    for (const [field, key] of identifyingKeys(item, tx.tenant.language)) claim(field, key);
    const outcome = await inSavepoint(tx, () => importProduct(tx, item, claim));
    for (const key of claimed) lines.set(key, item.line);
    return outcome;
  } catch (error) {
    // An error of the database, or a bug, is not an error of the line, and ends the import.
    if (!(error instanceof AppError) || error.kind === "internalError" || error.kind === "unavailable") throw error;
    return faultsOf(error, item);
  }
}

function faultsOf(error: AppError, { line, variants, isCsv }: ImportItem): RowError[] {
  if (!error.details?.length) return [{ line, field: null, message: error.message }];
  return error.details.map(({ field, message }) => {
    if (field === "row") return { line, field: null, message };
    if (!isCsv) return { line, field, message };
    // `images.0.url` is in the column `images`, `variants.1.price` in `variant_price`.
    const [name = field, index, variantField] = field.split(".");
    const variant = name === "variants" ? variants[Number(index)] : undefined;
    if (!variant) return { line, field: name, message };
    return { line: variant.line, field: variantField === undefined ? null : `variant_${variantField}`, message };
  });
}
