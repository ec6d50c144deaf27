import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildBinary, compileBare } from "./executables.ts";
import { fullEffort, quickEffort } from "./measure.ts";
import { measurePeer } from "./peer.ts";
import { formatJson, formatTable, holds, type Row } from "./report.ts";
import { measureRows, type Part, parts, rareParts, tools } from "./rows.ts";
import { createStore } from "./store.ts";

const usage = `usage: bun run bench [--quick] [--json] [--only <part>]... [--binary <path>] [--peer <path>]

Measures the server beside Bun.serve with bun:sqlite on the same rows, in turn, and prints ratios.

  --quick   fewer and shorter rounds: shows a tendency, proves nothing
  --json    print one JSON value
  --only    ${parts.join(" | ")}; without it all but ${[...rareParts].join(", ")}
  --binary  measure this executable instead of building dist/bodega
  --peer    also compare with this PocketBase; without --only, with nothing else

Exit code: 0 all marks hold · 1 a mark is missed, or a measurement failed · 2 usage, or a tool is missing`;

function readArguments() {
  return parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      binary: { type: "string" },
      peer: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  }).values;
}

function isPart(name: string): name is Part {
  return (parts as readonly string[]).includes(name);
}

async function main(): Promise<number> {
  let values: ReturnType<typeof readArguments>;
  try {
    values = readArguments();
  } catch (error) {
    return refuse(`${error instanceof Error ? error.message : error}\n\n${usage}`);
  }
  if (values.help) {
    console.log(usage);
    return 0;
  }
  if (!values.only.every(isPart)) return refuse(usage);
  const usual = values.peer === undefined ? parts.filter((part) => !rareParts.has(part)) : [];
  const wanted = new Set(values.only.length > 0 ? values.only.filter(isPart) : usual);
  for (const [tool, users] of Object.entries(tools)) {
    const user = [...wanted].find((part) => users.has(part));
    if (user === undefined || Bun.which(tool)) continue;
    return refuse(`--only ${user} needs ${tool}: \`apt-get install ${tool}\` on Debian and Ubuntu.`);
  }

  const binary = values.binary === undefined ? buildBinary() : resolve(values.binary);
  const workDir = mkdtempSync(join(tmpdir(), "bodega-bench-"));
  process.once("exit", () => rmSync(workDir, { recursive: true, force: true }));
  const bench = {
    workDir,
    binary,
    bareBinary: await compileBare("server.ts", workDir),
    helloBinary: await compileBare("hello.ts", workDir),
    store: await createStore(binary, join(workDir, "store")),
    effort: values.quick ? quickEffort : fullEffort,
  };
  const say = (text: string) => console.error(`measuring: ${text}`);
  const rows: Row[] = [];
  try {
    await measureRows(bench, wanted, rows, say);
    if (values.peer !== undefined) rows.push(...(await measurePeer(bench, resolve(values.peer), say)));
  } finally {
    // A failure does not lose the rows before it.
    process.stdout.write(values.json ? formatJson(rows) : `\n${formatTable(rows)}`);
  }
  return rows.some((row) => holds(row) === false) ? 1 : 0;
}

function refuse(message: string): number {
  console.error(message);
  return 2;
}

// Through `exit`, so that servers are stopped and the working directory is removed.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
try {
  process.exitCode = await main();
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}
