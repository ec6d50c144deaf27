/** One product of an import file: one NDJSON line, or one CSV row and the rows that add variants to it. */
export interface ImportItem {
  line: number;
  /** The given fields, named as in the API; validated when the product is written. */
  document: Record<string, unknown>;
  variants: { line: number; document: Record<string, unknown> }[];
  /** Errors found while reading; an item with any is not written. */
  faults: RowError[];
  /** CSV cannot distinguish null from an empty text. Errors name columns instead of paths in the document. */
  isCsv: boolean;
  isLast?: boolean;
}

export interface Row {
  line: number;
  cells: string[];
}

/** An error in a line; `field` is the column or the path in the document, null for the whole line. */
export interface RowError {
  line: number;
  field: string | null;
  message: string;
}

export const rowsTogether =
  "Put the rows of a product together, the one with the title first, and repeat its title, id, slug or SKU in each";

export function unreadableItem({ line, message }: { line: number; message: string }, isCsv: boolean): ImportItem {
  return { line, document: {}, variants: [], faults: [{ line, field: null, message }], isCsv, isLast: true };
}
