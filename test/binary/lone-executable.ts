import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { linkOrCopy } from "../support/executable.ts";

export const root = join(import.meta.dir, "..", "..");

export type Outcome = { code: number; stdout: string; stderr: string };

/** The built executable alone in a directory, with a home and a temporary directory beside it. */
export interface LoneExecutable {
  /** The directory it is started in; it contains only the executable. */
  dir: string;
  path: string;
  /** Its whole environment. */
  env: Record<string, string>;
  run(args: string[], env?: Record<string, string>): Promise<Outcome>;
  remove(): void;
}

/** Puts dist/bodega into an empty directory. Throws when it is not built, or when it could find a node_modules. */
export function isolateExecutable(): LoneExecutable {
  const built = join(root, "dist", "bodega");
  if (!existsSync(built)) throw new Error("dist/bodega is missing: run `bun run build` first.");
  const base = realpathSync(mkdtempSync(join(tmpdir(), "bodega-alone-")));
  for (let above = base; above !== dirname(above); above = dirname(above)) {
    if (existsSync(join(above, "node_modules"))) throw new Error(`There is a node_modules in ${above}.`);
  }
  const [dir, home, temp] = ["work", "home", "temp"].map((name) => join(base, name)) as [string, string, string];
  for (const folder of [dir, home, temp]) mkdirSync(folder);
  const path = join(dir, "bodega");
  linkOrCopy(built, path);
  const env = { PATH: "/usr/bin:/bin", HOME: home, TMPDIR: temp };

  async function run(args: string[], more: Record<string, string> = {}): Promise<Outcome> {
    const child = Bun.spawn([path, ...args], {
      cwd: dir,
      env: { ...env, ...more },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 20_000,
    });
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return { code, stdout, stderr };
  }

  return { dir, path, env, run, remove: () => rmSync(base, { recursive: true, force: true }) };
}
