import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import manifest from "../package.json" with { type: "json" };
import { hostTargetName, targets } from "./build-targets.ts";
import { describeMaterials } from "./sbom.ts";
import { readReleaseKey, signFile } from "./sign-release.ts";

const root = join(import.meta.dir, "..");
const { version } = manifest;
const usage = `usage: npm run release [-- [--target <name>]... [--skip-day] [--sign <key.pem>]]\n\ntargets: ${Object.keys(targets).join(", ")} (all)`;

function run(...command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  if (exitCode === 0) return stdout.toString().trim();
  throw new Error(`${command.join(" ")} failed: ${stderr.toString().trim()}`);
}

/** Returns this version's section of CHANGELOG.md. Warns if the section says "unreleased". */
function readNotes(): string {
  const sections = readFileSync(join(root, "CHANGELOG.md"), "utf8").split(/^## /m);
  const section = sections.find((text) => text.startsWith(`${version} `) || text.startsWith(`${version}\n`));
  if (section === undefined) {
    throw new Error(`CHANGELOG.md has no section "## ${version}". Write it and commit it: git commit CHANGELOG.md`);
  }
  if (/^.*\(unreleased\)/.test(section)) console.error(`warning: CHANGELOG.md calls version ${version} unreleased`);
  return section.slice(section.indexOf("\n")).trim();
}

/** Returns the commands that install this version on Linux, from the section "Install" of docs/OPERATION.md. */
function readInstallText(): string {
  const guide = readFileSync(join(root, "docs", "OPERATION.md"), "utf8");
  const block = /## Install\n[\s\S]*?```sh\n([\s\S]*?)```/.exec(guide)?.[1];
  if (block === undefined) throw new Error('docs/OPERATION.md has no section "## Install" with a block of sh.');
  return block.replace(/(?<=version=)\S+/, version);
}

function requireCleanTree(): void {
  const changed = run("git", "status", "--porcelain");
  if (changed === "") return;
  throw new Error(`The tree has changes that are not committed. Commit them, or stash them: git stash -u\n${changed}`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      target: { type: "string", multiple: true },
      "skip-day": { type: "boolean" },
      sign: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return console.log(usage);
  const key = values.sign === undefined ? undefined : readReleaseKey(values.sign);
  requireCleanTree();
  const notes = readNotes();
  const install = readInstallText();
  const names = values.target ?? Object.keys(targets);
  const flags = names.flatMap((name) => ["--target", name]);
  console.log(run(process.execPath, join(root, "scripts", "build.ts"), ...flags));
  const own = names.find((name) => name === hostTargetName());
  if (own !== undefined && !values["skip-day"]) {
    const executable = join(root, "dist", `bodega-${own}`);
    console.log(run(process.execPath, join(root, "scripts", "shop-for-a-day.ts"), "--executable", executable));
  }
  const folder = join(root, "dist", "release");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const files = names.map((name) => `bodega-${version}-${name}`);
  for (const [index, name] of names.entries()) {
    renameSync(join(root, "dist", `bodega-${name}`), join(folder, files[index] as string));
  }
  const sbom = `bodega-${version}.cdx.json`;
  const madeAt = new Date(run("git", "log", "-1", "--format=%cI")).toISOString();
  writeFileSync(join(folder, sbom), `${JSON.stringify(describeMaterials(version, madeAt), null, 2)}\n`);
  writeFileSync(join(folder, "install.sh"), `set -e\n${install}`);
  writeFileSync(
    join(folder, "NOTES.md"),
    `# Bodega ${version}\n\n${notes}\n\n## Install\n\n\`\`\`sh\n${install}\`\`\`\n`,
  );
  const sums = [...files, sbom, "install.sh"].map((name) => {
    const sum = createHash("sha256").update(readFileSync(join(folder, name)));
    return `${sum.digest("hex")}  ${name}\n`;
  });
  const sumsPath = join(folder, "SHA256SUMS");
  writeFileSync(sumsPath, sums.join(""));
  if (key)
    console.log(`Signed. Users verify it with: minisign -Vm SHA256SUMS -P ${signFile(sumsPath, key, new Date())}`);
  console.log(`dist/release has version ${version} for ${names.join(", ")}`);
}

try {
  await main();
} catch (error) {
  console.error(`release: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}
