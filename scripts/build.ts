import { mkdirSync, rmSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import manifest from "../package.json" with { type: "json" };
import { bundleClient, bundleClientTypes } from "./build-client.ts";
import { fetchTarget, hostTargetName, targets } from "./build-targets.ts";
import { embedAddon } from "./embed-addon.ts";

const root = join(import.meta.dir, "..");
const usage = `usage: bun run build [--target <name>]... [--all]\n\ntargets: ${Object.keys(targets).join(", ")}`;

/** Returns the short hash of the commit. */
function readCommit(): string {
  // The container image is built in an image without git.
  if (Bun.which("git") === null) return "unknown";
  const { exitCode, stdout } = Bun.spawnSync(["git", "log", "-1", "--abbrev=12", "--format=%h"], {
    cwd: root,
    stdio: ["ignore", "pipe", "ignore"],
  });
  return exitCode === 0 ? stdout.toString().trim() : "unknown";
}

interface Program {
  entry: string;
  version: string;
  commit: string;
  /** The path of the executable. By default, it is in dist, named after the platform. */
  outfile: string | undefined;
}

/** Builds the executable of a platform. If `name` is undefined, builds it for this machine, from the running Bun. */
async function buildExecutable(name: string | undefined, program: Program): Promise<string> {
  const { entry, version, commit } = program;
  const host = hostTargetName();
  const target = targets[name ?? host ?? ""];
  if (!target) throw new Error(`There is no libSQL add-on for ${name ?? "this machine"}.\n${usage}`);
  const modules = join(name === undefined ? root : fetchTarget(name, target), "node_modules");
  const outfile = program.outfile ?? join(root, "dist", name === undefined ? "bodega" : `bodega-${name}`);
  const runtime = name === undefined ? process.execPath : join(modules, target.runtime, "bin", "bun");
  rmSync(outfile, { force: true });
  await Bun.build({
    entrypoints: [entry],
    target: "bun",
    minify: { whitespace: true, syntax: true, identifiers: true, keepNames: true },
    sourcemap: "none",
    bytecode: true,
    // With these two, a command loads only the modules that it uses.
    format: "esm",
    splitting: true,
    define: {
      "process.env.NODE_ENV": JSON.stringify("production"),
      BODEGA_VERSION: JSON.stringify(version),
      BODEGA_COMMIT: JSON.stringify(commit),
      BODEGA_CLIENT_MODULE: JSON.stringify(await bundleClient()),
      BODEGA_CLIENT_TYPES: JSON.stringify(await bundleClientTypes()),
    },
    plugins: [embedAddon(join(modules, target.addon, "index.node"))],
    compile: {
      target: target.compile,
      executablePath: runtime,
      outfile,
      // Files in the current directory must not change what the executable does.
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
  });
  return outfile;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      target: { type: "string", multiple: true, default: [] },
      all: { type: "boolean", default: false },
      entry: { type: "string", default: join(root, "src", "cli", "main.ts") },
      version: { type: "string", default: manifest.version },
      outfile: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return console.log(usage);
  mkdirSync(join(root, "dist"), { recursive: true });
  const { entry, version } = values;
  const commit = readCommit();
  const names = values.all ? Object.keys(targets) : values.target.length > 0 ? values.target : [undefined];
  for (const name of names) {
    const started = performance.now();
    const outfile = await buildExecutable(name, { entry, version, commit, outfile: values.outfile });
    const size = (statSync(outfile).size / 1e6).toFixed(1);
    console.log(`${relative(root, outfile)}  ${size} MB  ${Math.round(performance.now() - started)} ms`);
  }
}

try {
  await main();
} catch (error) {
  const causes = error instanceof AggregateError ? error.errors : [error];
  for (const cause of causes) console.error(`build: ${cause instanceof Error ? cause.message : cause}`);
  process.exit(1);
}
