import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { linkOrCopy } from "../support/executable.ts";

export const root = join(import.meta.dir, "..", "..");

export type Outcome = { code: number; stdout: string; stderr: string };

/** The built executable, alone in a directory, with a separate home and temporary directory. */
export interface LoneExecutable {
  /** The working directory, which contains only the executable. */
  dir: string;
  path: string;
  /** The complete environment of the executable. */
  env: Record<string, string>;
  run(args: string[], env?: Record<string, string>): Promise<Outcome>;
  remove(): void;
}

/** Copies dist/bodega to an empty directory. Throws if it is not built, or if a node_modules is in reach. */
export function isolateExecutable(built = join(root, "dist", "bodega")): LoneExecutable {
  if (!existsSync(built)) throw new Error(`${built} is missing: run \`npm run build\` first.`);
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
