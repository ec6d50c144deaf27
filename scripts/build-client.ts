// Writes the package of the TypeScript client to dist/client.
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };

const root = join(import.meta.dir, "..");
const entry = join(root, "src", "client", "client.ts");

/** Bundles the client into an ES module for browsers, Node and Bun. Lines and names stay readable for stack traces. */
export async function bundleClient(): Promise<string> {
  const minify = { syntax: true };
  const { outputs } = await Bun.build({ entrypoints: [entry], target: "browser", format: "esm", minify });
  return (outputs[0] as Bun.BuildArtifact).text();
}

/** Bundles the client's types into a text. Throws if the client does not compile without the types of Bun and Node. */
export async function bundleClientTypes(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), "bodega-client-"));
  try {
    const compilerOptions = {
      ...{ noEmit: false, emitDeclarationOnly: true, declaration: true },
      ...{
        types: [],
        lib: ["ES2022", "ESNext.Array", "DOM", "DOM.Iterable"],
        rootDir: join(root, "src", "client"),
        outDir: dir,
      },
    };
    const project = { extends: join(root, "tsconfig.json"), compilerOptions, files: [entry], include: [] };
    writeFileSync(join(dir, "tsconfig.json"), JSON.stringify(project));
    const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
    const child = Bun.spawn([process.execPath, compiler, "--project", dir]);
    const output = await child.stdout.text();
    if ((await child.exited) !== 0) throw new Error(`The client does not compile.\n${output}`);
    const names = readdirSync(dir).filter((name) => name.endsWith(".d.ts"));
    const texts = names.map((name) => joinable(readFileSync(join(dir, name), "utf8"), name === "client.d.ts"));
    return `// Bodega ${manifest.version}\n${texts.join("")}`;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** Removes the imports from declarations, so that they can be joined in one file. Only the entry keeps its exports. */
function joinable(text: string, isEntry: boolean): string {
  const own = text.replace(/^import .*\n|^export \{\};\n|\bimport\("\.\/[\w.-]+"\)\.| from "\.\/[\w.-]+"(?=;$)/gm, "");
  return isEntry ? own : own.replace(/^export (?=declare|type|interface)/gm, "");
}

/** Empties a folder and writes the package to it. */
export async function buildClient(out: string): Promise<void> {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const { version, license } = manifest;
  const types = "./client.d.ts";
  const described = {
    ...{ name: "bodega-client", version, description: "Client of a Bodega store.", license, type: "module" },
    ...{ exports: { ".": { types, default: "./client.js" } }, types, sideEffects: false, engines: { node: ">=20.3" } },
  };
  writeFileSync(join(out, "package.json"), `${JSON.stringify(described, null, 2)}\n`);
  writeFileSync(join(out, "client.js"), await bundleClient());
  writeFileSync(join(out, "client.d.ts"), await bundleClientTypes());
  copyFileSync(join(root, "LICENSE"), join(out, "LICENSE"));
}

if (import.meta.main) await buildClient(join(root, "dist", "client"));
