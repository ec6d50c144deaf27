import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "..", "..");
const binary = join(root, "dist", "bodega");
const sources = ["src", "drizzle", "scripts", "package.json", "bun.lock"];

/** Returns the path of the product's executable. Builds it if a source is newer. Throws if the build fails. */
export function buildBinary(): string {
  const builtAt = existsSync(binary) ? statSync(binary).mtimeMs : 0;
  if (sources.every((name) => youngest(join(root, name)) < builtAt)) return binary;
  console.error("Building dist/bodega …");
  const { exitCode } = Bun.spawnSync([process.execPath, join(root, "scripts", "build.ts")], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (exitCode !== 0) throw new Error("dist/bodega could not be built; the lines above say why.");
  return binary;
}

/** Compiles the bare server in the same way as the product. Returns its path. */
export async function compileBare(workDir: string): Promise<string> {
  const outfile = join(workDir, "bare-server");
  await Bun.build({
    entrypoints: [join(import.meta.dir, "bare", "server.ts")],
    target: "bun",
    minify: true,
    bytecode: true,
    define: { "process.env.NODE_ENV": JSON.stringify("production") },
    compile: { outfile, executablePath: process.execPath, autoloadDotenv: false, autoloadBunfig: false },
  });
  return outfile;
}

function youngest(path: string): number {
  const found = statSync(path);
  if (!found.isDirectory()) return found.mtimeMs;
  return Math.max(found.mtimeMs, ...readdirSync(path).map((name) => youngest(join(path, name))));
}
