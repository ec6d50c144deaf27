import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { familySync } from "detect-libc";

const root = join(import.meta.dir, "..");

/** A platform for executables. `addon` and `runtime` are npm packages, whose versions tools/targets pins. */
export type Target = {
  os: "linux" | "darwin";
  cpu: "x64" | "arm64";
  libc: "glibc" | "musl";
  compile: Bun.Build.CompileTarget;
  addon: string;
  runtime: string;
};

const linux = (cpu: "x64" | "arm64", musl: boolean): Target => ({
  os: "linux",
  cpu,
  libc: musl ? "musl" : "glibc",
  compile: musl ? `bun-linux-${cpu}-musl` : `bun-linux-${cpu}`,
  addon: `@libsql/linux-${cpu}-${musl ? "musl" : "gnu"}`,
  runtime: `@oven/bun-linux-${cpu === "x64" ? "x64" : "aarch64"}${musl ? "-musl" : ""}`,
});

const darwin = (cpu: "x64" | "arm64"): Target => ({
  os: "darwin",
  cpu,
  libc: "glibc",
  compile: `bun-darwin-${cpu}`,
  addon: `@libsql/darwin-${cpu}`,
  runtime: `@oven/bun-darwin-${cpu === "x64" ? "x64" : "aarch64"}`,
});

/** The platforms that `--target` accepts. */
export const targets: Record<string, Target> = {
  "linux-x64": linux("x64", false),
  "linux-arm64": linux("arm64", false),
  "linux-x64-musl": linux("x64", true),
  "linux-arm64-musl": linux("arm64", true),
  "darwin-x64": darwin("x64"),
  "darwin-arm64": darwin("arm64"),
};

/** Returns the name of this machine's platform; undefined if `targets` does not have it. */
export function hostTargetName(): string | undefined {
  const name = `${process.platform}-${process.arch}${familySync() === "musl" ? "-musl" : ""}`;
  return name in targets ? name : undefined;
}

/**
 * Fetches the runtime and the add-on of a platform from npm unless they are cached, and checks them against
 * tools/targets/bun.lock. Returns the folder whose node_modules contains them. Throws if they cannot be fetched.
 */
export function fetchTarget(name: string, target: Target): string {
  const source = join(root, "tools", "targets");
  const dir = join(root, "node_modules", ".cache", "build-targets", name);
  const stamp = join(dir, ".fetched");
  const wanted = createHash("sha256")
    .update(readFileSync(join(source, "bun.lock")))
    .digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return dir;
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  for (const file of ["package.json", "bun.lock"]) copyFileSync(join(source, file), join(dir, file));
  const platform = [`--os=${target.os}`, `--cpu=${target.cpu}`, `--libc=${target.libc}`];
  const { exitCode } = Bun.spawnSync(
    [process.execPath, "install", "--frozen-lockfile", "--ignore-scripts", "--backend=copyfile", ...platform],
    { cwd: dir, stdio: ["ignore", "inherit", "inherit"] },
  );
  // `bun install` also succeeds if it could not fetch an optional package.
  const missing = [target.addon, target.runtime].filter((one) => !existsSync(join(dir, "node_modules", one)));
  if (exitCode !== 0 || missing.length > 0) {
    throw new Error(`Packages for ${name} could not be fetched from npm: ${missing.join(", ")}`);
  }
  writeFileSync(stamp, wanted);
  return dir;
}
