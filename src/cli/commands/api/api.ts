import type { LocalRequest } from "../../../server/runtime/local-api.ts";
import { attempt } from "../../../server/values/attempt.ts";
import { type ArgValues, fileArg, requiredNamespaceArg, valueArg, wordArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { parsePair } from "../../framework/parse-values.ts";
import { type Console, invalidFlag, printJson } from "../../terminal/console.ts";
import { escapeJson } from "../../terminal/text.ts";
import { type CallApi, withLocalApi } from "./local-api.ts";

const maxInputBytes = 1_048_576;

const args = {
  method: wordArg("Method of the request", { options: ["GET", "POST", "PUT", "PATCH", "DELETE"] }),
  path: wordArg("Path with its query, such as /orders/?status=paid"),
  namespace: requiredNamespaceArg,
  field: valueArg("name=text", "Add a text to the body, or to the query of a GET or DELETE", {
    alias: "f",
    multiple: true,
    parse: (flag: string, text: string) => parsePair(flag, text, "name=text"),
  }),
  "json-field": valueArg("name=json", "Add a JSON value, such as price=12.5 or tags=[]", {
    alias: "F",
    multiple: true,
    parse: parseJsonPair,
  }),
  input: fileArg("Read the body from this file: JSON, or a picture; - is standard input"),
  as: valueArg("id|email", "Act as this user (default: as the operator of the store)", { completes: "user" }),
  paginate: { type: "boolean", description: "Read all pages of a list, and print one array of its records" },
  lines: { type: "boolean", description: "Print each record of a list on a line of its own (NDJSON)" },
} as const;

export default defineCommand({
  description: "Send a request to the API of a store, without a key or a running server",
  args,
  exclusive: [
    ["input", "field"],
    ["input", "json-field"],
  ],
  examples: [
    "bodega api GET /orders/ -n demo -f status=paid --paginate",
    "bodega api PATCH /products/oak-lamp/ -n demo -F price=79.9",
  ],
  notes: [
    "The command prints the reply as JSON, and exits with 1 if its status is 400 or above.",
    "Every user of the machine can read arguments. Send secrets with --input.",
  ],
  async run(given, console) {
    if (given.paginate && given.method !== "GET") throw invalidFlag("--paginate", "requires GET");
    const request = await readRequest(given, console);
    return withLocalApi(given, console, (call) => printReplies({ ...given, call, request }, console));
  },
});

type Given = ArgValues<typeof args>;

async function readRequest({ method, path, as, input, ...given }: Given, console: Console): Promise<LocalRequest> {
  const fields: [string, unknown][] = [...given.field, ...given["json-field"]];
  const body = input === undefined ? undefined : await readInput(console, input);
  if (body !== undefined || fields.length === 0) return { method, path, as, body };
  if (method !== "GET" && method !== "DELETE") return { method, path, as, body: Object.fromEntries(fields) };
  const url = new URL(path, base);
  for (const [name, value] of fields) {
    url.searchParams.append(name, typeof value === "string" ? value : JSON.stringify(value));
  }
  return { method, path: url.pathname + url.search, as };
}

const base = "http://localhost";

/** Prints the reply, or with `paginate` the records of all pages. Returns the exit code. */
async function printReplies(
  { call, request, paginate, lines }: Given & { call: CallApi; request: LocalRequest },
  console: Console,
): Promise<number> {
  const records: unknown[] = [];
  for (let path: string | undefined = request.path; path !== undefined && console.hasReader(); ) {
    const { status, envelope } = await call({ ...request, path });
    if (status >= 400) return printJson(console, envelope).then(() => 1);
    const { data, page } = envelope;
    const found = Array.isArray(data) ? data : [data];
    if (lines) await console.write(found.map((one) => `${escapeJson(JSON.stringify(one))}\n`).join(""));
    else if (!paginate) await printJson(console, envelope);
    else records.push(...found);
    path = paginate && page?.has_more ? pageAfter(path, String(page.next_cursor)) : undefined;
  }
  if (paginate && !lines) await printJson(console, records);
  return 0;
}

function pageAfter(path: string, cursor: string): string {
  const { pathname, searchParams } = new URL(path, base);
  // The feed of events has no `cursor`. Its parameter `after`, the id of an event, selects the next page.
  searchParams.set(pathname.startsWith("/events") ? "after" : "cursor", cursor);
  return `${pathname}?${searchParams}`;
}

function parseJsonPair(flag: string, text: string): [string, unknown] {
  const [name, json] = parsePair(flag, text, "name=json");
  const parsed = attempt(() => ({ value: JSON.parse(json) as unknown }));
  if (!parsed) throw invalidFlag(flag, `has no valid JSON for ${name}`, `For a text, write --field ${name}=...`);
  return [name, parsed.value];
}

async function readInput(console: Console, path: string): Promise<LocalRequest["body"]> {
  const json = { type: "application/json" };
  if (path === "-") return new Blob([await console.readInput(maxInputBytes)], json);
  const file = Bun.file(path);
  if (!(await file.exists())) throw invalidFlag("--input", `names a file that does not exist: ${path}`);
  return file.type.startsWith("image/") ? file : new Blob([await file.bytes()], json);
}
