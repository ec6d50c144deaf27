/** One product of a file to import: what its row, or its rows, say. */
export interface ImportItem {
  /** Where it begins in the file, from 1. */
  line: number;
  /** Only the fields given, as the API names them; checked when it is written. */
  document: Record<string, unknown>;
  variants: ImportVariant[];
  /** What is wrong with it already; then nothing of it is written. */
  faults: RowFault[];
  /** Fields are cells of a table: an empty one stands for null and for an empty text alike. */
  isTable: boolean;
}

/** A variant of it, on a line of its own in a table. */
export interface ImportVariant {
  line: number;
  document: Record<string, unknown>;
}

/** What is wrong with a line; `field` is the column or the path in the document, null for the line as a whole. */
export interface RowFault {
  line: number;
  field: string | null;
  message: string;
}

/** What cannot be read at all, from here to the end of the file. */
export class UnreadableInput extends Error {
  readonly fault: RowFault;

  constructor(line: number, message: string) {
    super(message);
    this.name = "UnreadableInput";
    this.fault = { line, field: null, message };
  }
}
