/** How a long copy tells where it is, and how it is stopped. */
export interface CopyOptions {
  /** Is told how many rows have been copied, and how many there are. */
  onProgress?: (done: number, total: number) => void;
  /** Once it is aborted the copy ends with its reason, and leaves nothing that could be taken for a database. */
  signal?: AbortSignal;
}

/** What was copied. */
export interface CopyReport {
  tables: number;
  rows: number;
}
