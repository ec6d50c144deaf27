const formats = ["csv", "ndjson"] as const;
/** The format of a file of records. */
export type FileFormat = (typeof formats)[number];

const endings: Record<string, FileFormat> = {
  csv: "csv",
  tsv: "csv",
  txt: "csv",
  ndjson: "ndjson",
  jsonl: "ndjson",
};

/** `--format` of a command that reads or writes a file. */
export const formatFlag = {
  type: "enum",
  options: formats,
  description: "Format of the file (default: from its name: .csv, .tsv, .ndjson or .jsonl)",
} as const;

/** The format by a file's name; undefined for `-` and other endings. */
export function formatOf(path: string): FileFormat | undefined {
  return endings[/\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ""];
}
