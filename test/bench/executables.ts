import { join } from "node:path";

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
