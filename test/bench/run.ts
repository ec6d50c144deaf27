import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { builtExecutable } from "../support/executable.ts";
import { measureBackups } from "./backup.ts";
import { compileBare } from "./executables.ts";
import { measureLogins } from "./logins.ts";
import type { Bench, Effort } from "./measure.ts";
import { measureReads, measureStarts } from "./reads.ts";
import { formatTable, holds, type Row } from "./report.ts";
import { measureScale } from "./scale.ts";
import { runDrill } from "./server/drill.ts";
import { measureServer } from "./server/rows.ts";
import { createStore } from "./store.ts";
import { measureOrders, measureWorkers, measureWrites } from "./writes.ts";

/** The parts of the benchmark, in the order of the table. */
const parts: Record<string, (bench: Bench) => Promise<Row[]>> = {
  start: measureStarts,
  reads: measureReads,
  writes: measureWrites,
  orders: measureOrders,
  workers: measureWorkers,
  logins: measureLogins,
  backup: measureBackups,
  scale: measureScale,
  server: measureServer,
  drill: runDrill,
};
/** Parts that run only when they are named, because each takes minutes. */
const rareParts = ["scale", "server", "drill"];
/** Programs that must be installed, with the parts that need them. */
const tools = { wrk: ["reads", "writes", "orders", "workers", "server"], haproxy: ["drill"] };

const fullEffort: Effort = { rounds: 5, seconds: 4, starts: 9, idleSeconds: 10 };
const quickEffort: Effort = { rounds: 3, seconds: 1, starts: 3, idleSeconds: 2 };

const usage = `usage: bun run bench [--quick] [--only <part>]... [--binary <path>]

Measures the server beside Bun.serve with bun:sqlite on the same rows, in turn, and prints ratios.

  --quick   fewer and shorter rounds: shows a tendency, proves nothing
  --only    ${Object.keys(parts).join(" | ")}; without it all but ${rareParts.join(", ")}
  --binary  measure this executable instead of building dist/bodega

Exit code: 0 all marks hold · 1 a mark is missed, or a measurement failed · 2 usage, or a tool is missing`;

function readArguments() {
  try {
    return parseArgs({
      options: {
        quick: { type: "boolean", default: false },
        only: { type: "string", multiple: true, default: [] },
        binary: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    return refuse(`${error instanceof Error ? error.message : error}\n\n${usage}`);
  }
}

async function main(): Promise<number> {
  const { only, quick, help, binary: given } = readArguments();
  if (help) {
    console.log(usage);
    return 0;
  }
  if (!only.every((name) => name in parts)) refuse(usage);
  const isWanted = (name: string) => (only.length > 0 ? only.includes(name) : !rareParts.includes(name));
  for (const [tool, users] of Object.entries(tools)) {
    const user = users.find(isWanted);
    if (user === undefined || Bun.which(tool)) continue;
    refuse(`--only ${user} needs ${tool}: \`apt-get install ${tool}\` on Debian and Ubuntu.`);
  }

  const binary = given === undefined ? builtExecutable() : resolve(given);
  const workDir = mkdtempSync(join(tmpdir(), "bodega-bench-"));
  process.once("exit", () => rmSync(workDir, { recursive: true, force: true }));
  const bench: Bench = {
    workDir,
    binary,
    bareBinary: await compileBare(workDir),
    store: await createStore(binary, join(workDir, "store")),
    effort: quick ? quickEffort : fullEffort,
    say: (text) => console.error(`measuring: ${text}`),
  };
  const rows: Row[] = [];
  try {
    for (const [name, measure] of Object.entries(parts)) if (isWanted(name)) rows.push(...(await measure(bench)));
  } finally {
    // If a part fails, the rows of earlier parts are still printed.
    process.stdout.write(`\n${formatTable(rows)}`);
  }
  return rows.some((row) => holds(row) === false) ? 1 : 0;
}

function refuse(message: string): never {
  console.error(message);
  process.exit(2);
}

// Ends with `exit`, whose handlers stop servers and remove the working directory.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
try {
  process.exitCode = await main();
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}
