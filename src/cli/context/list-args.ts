import { choiceArg, fileArg, namespaceArg, valueArg } from "../framework/args.ts";
import { parseCount, parsePastTime } from "../framework/parse-values.ts";

// Arguments of commands that list or export.

export const fileFormatArg = choiceArg(["csv", "ndjson"], "Format of the file (default: from its extension)");

export const exportArgs = {
  output: fileArg("File to write; - is standard output", { alias: "o", default: "-" }),
  format: { ...fileFormatArg, description: "Format of the export (default: from the file's extension, or csv)" },
} as const;

export const namespaceFilterArg = { ...namespaceArg, description: "Filter by store (default: all)" } as const;

export const userFilterArg = valueArg("id|email", "Filter by user", { completes: "user" });

const pastTimes = "this day (2026-11-01), time (2026-11-01T12:00:00Z), or duration before now (7d)";

export const sinceArg = valueArg("duration|time", `Created at or after ${pastTimes}`, { parse: parsePastTime });

export const untilArg = { ...sinceArg, description: `Created before ${pastTimes}` };

export function limitArg(defaultLimit: string, max?: number) {
  const description = `Maximum number of rows${max === undefined ? "" : `, up to ${max}`}`;
  return valueArg("number", description, { default: defaultLimit, parse: parseCount });
}
