// Installs what a checkout needs, then runs Bun with the given arguments.
// Plain JavaScript for Node 20 or Bun, without dependencies, because it runs before they are installed.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const toolDir = join(root, "tools", "bun");
const pinned = JSON.parse(readFileSync(join(toolDir, "package.json"), "utf8")).dependencies.bun;

const say = (message) => process.stderr.write(`setup: ${message}\n`);

/** Returns the version that a Bun executable reports; null if it cannot run on this machine. */
function versionOf(executable) {
  const { status, stdout } = spawnSync(executable, ["--version"], { encoding: "utf8", timeout: 20_000 });
  return status === 0 ? stdout.trim() : null;
}

/** Lists the executables that npm installed in tools/bun. The postinstall script of `bun` may have moved one to `bun.exe`. */
function installedBuns() {
  const scope = join(toolDir, "node_modules", "@oven");
  const packages = existsSync(scope) ? readdirSync(scope).map((name) => join(scope, name, "bin", "bun")) : [];
  return [...packages, join(toolDir, "node_modules", "bun", "bin", "bun.exe")].filter(existsSync);
}

/** Lists other Bun executables: the one that runs this script, the one that started it, and the one in PATH. */
function foreignBuns() {
  const starter = process.env.npm_execpath ?? "";
  const running = process.versions.bun ? [process.execPath] : [];
  return [...running, ...(basename(starter).startsWith("bun") ? [starter] : []), "bun"];
}

/** Runs npm in a folder. Returns whether it succeeded. */
function runNpm(args, cwd) {
  const starter = process.env.npm_execpath ?? "";
  const npm = basename(starter) === "npm-cli.js" ? [process.execPath, starter] : ["npm"];
  // Scripts are ignored, because only some versions of npm run them. Pauses between tries are short, so that npm fails
  // within seconds if there is no network.
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  const patience = ["--prefer-offline", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"];
  const flags = [...args, "--ignore-scripts", ...quiet, ...patience];
  const { status } = spawnSync(npm[0], [...npm.slice(1), ...flags], { cwd, stdio: ["ignore", 2, 2] });
  return status === 0;
}

function fetchBun() {
  say(`fetching Bun ${pinned} with npm into tools/bun (once)`);
  return runNpm(["ci", "--prefix", toolDir], toolDir);
}

const numbers = (version) => version.split(".").map((part) => Number.parseInt(part, 10));

/** Whether a version has the pinned major number, and at least the pinned minor number. */
function isCloseEnough(version) {
  const [major, minor] = numbers(version);
  const [wantMajor, wantMinor] = numbers(pinned);
  return major === wantMajor && minor >= wantMinor;
}

function findBun() {
  if (process.versions.bun === pinned) return process.execPath;
  const isPinned = (executable) => versionOf(executable) === pinned;
  const ready = installedBuns().find(isPinned) ?? foreignBuns().find(isPinned);
  if (ready) return ready;
  const fetched = fetchBun() ? installedBuns().find(isPinned) : undefined;
  if (fetched) return fetched;
  const other = foreignBuns().find((executable) => isCloseEnough(versionOf(executable) ?? "0.0"));
  if (!other) throw new Error(`Bun ${pinned} is needed: neither npm nor a Bun on this machine could provide it.`);
  say(`warning: using Bun ${versionOf(other)} in place of ${pinned}, which could not be fetched`);
  return other;
}

function installPackages(bun) {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}\n`);
  for (const file of ["package.json", "bun.lock"]) hash.update(readFileSync(join(root, file)));
  const wanted = hash.digest("hex");
  const stamp = join(root, "node_modules", ".setup-stamp");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  say("installing the packages of bun.lock");
  const { status } = spawnSync(bun, ["install", "--frozen-lockfile", "--ignore-scripts"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0) throw new Error("the packages could not be installed; the lines above say why.");
  writeFileSync(stamp, wanted);
}

/** Fetches the built script of the page at `/docs`, but not the 298 packages from which it was built. */
function fetchReferencePage() {
  const folder = join(root, "tools", "reference");
  const { name, version, integrity, file } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).bodega;
  const stamp = join(folder, "node_modules", ".stamp");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === integrity) return;
  say(`fetching ${name} ${version} with npm into tools/reference (once)`);
  const target = join(folder, "node_modules");
  mkdirSync(target, { recursive: true });
  const archive = join(target, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
  if (!runNpm(["pack", `${name}@${version}`, "--pack-destination", target], target)) {
    throw new Error(`${name} could not be fetched; the lines above say why.`);
  }
  const sum = createHash("sha512").update(readFileSync(archive)).digest("base64");
  if (`sha512-${sum}` !== integrity)
    throw new Error(`${archive} is not the file that tools/reference/package.json names.`);
  const { status } = spawnSync("tar", ["-xzf", archive, "-C", target, "--strip-components=1", `package/${file}`]);
  if (status !== 0) throw new Error(`${archive} could not be unpacked with tar.`);
  rmSync(archive);
  writeFileSync(stamp, integrity);
}

function run(bun, args) {
  const child = spawn(bun, args, { cwd: root, stdio: "inherit" });
  child.on("error", (error) => fail(`could not start ${bun}: ${error.message}`));
  // At a terminal, the child also gets Ctrl-C. A second SIGINT would end it before it has cleaned up.
  process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"));
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

function fail(message) {
  say(`error: ${message}`);
  process.exit(1);
}

try {
  const bun = findBun();
  installPackages(bun);
  fetchReferencePage();
  run(bun, process.argv.slice(2));
} catch (error) {
  fail(error.message);
}
