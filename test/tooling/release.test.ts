import { afterAll, expect, test } from "bun:test";
import { createHash, generateKeyPairSync, verify } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Ajv from "ajv";
import addFormats from "ajv-formats";
import manifest from "../../package.json" with { type: "json" };
import { hostTargetName } from "../../scripts/build-targets.ts";
import { describeMaterials } from "../../scripts/sbom.ts";
import { readReleaseKey, signFile } from "../../scripts/sign-release.ts";

const root = join(import.meta.dir, "../..");
const { version } = manifest;
const made: string[] = [];

afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true });
});

function run(cwd: string, ...command: string[]) {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_AUTHOR_DATE: "", GIT_COMMITTER_DATE: "" };
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  return { code: exitCode, output: stdout.toString() + stderr.toString() };
}

/** Creates a repository whose only commit has the files of this one, with the same packages. */
function makeCheckout(): string {
  const dir = mkdtempSync(join(tmpdir(), "bodega-release-"));
  made.push(dir);
  const listed = run(root, "git", "ls-files", "--cached", "--others", "--exclude-standard").output.trim().split("\n");
  for (const name of listed) cpSync(join(root, name), join(dir, name));
  symlinkSync(join(root, "node_modules"), join(dir, "node_modules"));
  for (const name of ["bun", "reference"]) {
    symlinkSync(join(root, "tools", name, "node_modules"), join(dir, "tools", name, "node_modules"));
  }
  run(dir, "git", "init", "-q");
  writeFileSync(join(dir, ".git/info/exclude"), "node_modules\n");
  commit(dir);
  return dir;
}

let checkout: string | undefined;

/** Returns the checkout that the tests share. */
function openCheckout(): string {
  checkout ??= makeCheckout();
  return checkout;
}

function commit(dir: string): void {
  const author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
  expect(run(dir, "git", "add", "-A").code).toBe(0);
  expect(run(dir, "git", ...author, "commit", "-qm", "All")).toMatchObject({ code: 0 });
}

const release = (dir: string) =>
  run(dir, process.execPath, "scripts/release.ts", "--skip-day", "--target", hostTargetName() as string);

test("the bill of materials is valid CycloneDX, and has the packages with licenses and checksums", () => {
  const schemas = join(root, "node_modules/@cyclonedx/cyclonedx-library/res/schema");
  const read = (name: string) => JSON.parse(readFileSync(join(schemas, name), "utf8"));
  const ajv = new Ajv({ strict: false, formats: { "iri-reference": true, "idn-email": true } });
  addFormats(ajv);
  for (const name of ["spdx.SNAPSHOT.schema.json", "jsf-0.82.SNAPSHOT.schema.json"]) {
    ajv.addSchema({ ...read(name), $id: `http://cyclonedx.org/schema/${name}` });
  }
  const materials = describeMaterials(version, "2026-11-22T10:00:00.000Z");
  const validate = ajv.compile(read("bom-1.6.SNAPSHOT.schema.json"));
  expect({ valid: validate(materials), errors: validate.errors }).toEqual({ valid: true, errors: null });
  const { components } = materials;
  const names = components.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([...Object.keys(manifest.dependencies), "bun", "@scalar/api-reference"]),
  );
  expect(names.filter((name) => name in manifest.devDependencies && name !== "detect-libc")).toEqual([]);
  // The database engines of other platforms are installed only if their executables are built.
  const isHere = ({ name }: { name: string }) => !/^@libsql\/(?:linux|darwin)-/.test(name);
  expect(components.filter((one) => isHere(one) && one.licenses.length === 0)).toEqual([]);
  expect(components.filter(({ name, hashes }) => name !== "bun" && hashes?.[0]?.content.length !== 128)).toEqual([]);
});

test("a release has executables, checksums that sha256sum accepts, notes, and an installer that checks them", () => {
  const dir = openCheckout();
  const { code, output } = release(dir);
  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining(`version ${version}`) });
  const folder = join(dir, "dist/release");
  const target = hostTargetName() as string;
  const file = `bodega-${version}-${target}`;
  const names = ["NOTES.md", "SHA256SUMS", file, `bodega-${version}.cdx.json`, "install.sh"];
  expect(readdirSync(folder).sort()).toEqual(names);
  expect(run(folder, "sha256sum", "--strict", "-c", "SHA256SUMS")).toMatchObject({ code: 0 });
  expect(run(folder, join(folder, file), "version")).toEqual({ code: 0, output: `bodega ${version}\n` });
  expect(readFileSync(join(folder, "NOTES.md"), "utf8")).toStartWith(`# Bodega ${version}\n\nThe first version`);

  const into = join(dir, "dist/bin");
  run(dir, "mkdir", into);
  const text = readFileSync(join(folder, "install.sh"), "utf8");
  writeFileSync(join(folder, "install.sh"), text.replaceAll("/usr/local/bin", into));
  const install = () => run(folder, "env", `PATH=${into}:${process.env.PATH}`, "sh", "install.sh");
  expect(text).toContain("/usr/local/bin");
  expect(install()).toMatchObject({ code: 0, output: expect.stringContaining(`bodega ${version}\n`) });
  run(dir, "rm", join(into, "bodega"));
  writeFileSync(join(folder, file), "another file");
  expect(install().code).toBeGreaterThan(0);
  expect(readdirSync(into)).toEqual([]);
}, 60_000);

test("a release is signed with the given key, in the format of minisign", () => {
  const dir = mkdtempSync(join(tmpdir(), "bodega-sign-"));
  made.push(dir);
  const path = join(dir, "SHA256SUMS");
  writeFileSync(path, "0000  bodega\n");
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const pem = join(dir, "key.pem");
  writeFileSync(pem, privateKey.export({ type: "pkcs8", format: "pem" }));
  const text = signFile(path, readReleaseKey(pem), new Date(0));
  const known = Buffer.from(text, "base64");
  expect(known.subarray(10)).toEqual(publicKey.export({ type: "spki", format: "der" }).subarray(-32));
  const [, first = "", trusted = "", second = ""] = readFileSync(`${path}.minisig`, "utf8").split("\n");
  const signature = Buffer.from(first, "base64");
  expect(signature.subarray(0, 10)).toEqual(Buffer.concat([Buffer.from("ED"), known.subarray(2, 10)]));
  const hash = createHash("blake2b512").update(readFileSync(path)).digest();
  expect(verify(null, hash, publicKey, signature.subarray(10))).toBe(true);
  const comment = "timestamp:0\tfile:SHA256SUMS\thashed";
  expect(trusted).toBe(`trusted comment: ${comment}`);
  const whole = Buffer.concat([signature.subarray(10), Buffer.from(comment)]);
  expect(verify(null, whole, publicKey, Buffer.from(second, "base64"))).toBe(true);
  const minisign = Bun.which("minisign");
  if (minisign !== null) expect(run(dir, minisign, "-Vm", path, "-P", text)).toMatchObject({ code: 0 });
  const { privateKey: other } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  writeFileSync(pem, other.export({ type: "pkcs8", format: "pem" }));
  expect(() => readReleaseKey(pem)).toThrow("is not an Ed25519 key");
});

test("a release is refused for a version without a section in CHANGELOG.md, and for a tree with changes", () => {
  const dir = openCheckout();
  const changelog = join(dir, "CHANGELOG.md");
  writeFileSync(changelog, readFileSync(changelog, "utf8").replace(`## ${version}`, "## 0.0.1"));
  const dirty = release(dir);
  expect(dirty).toEqual({ code: 1, output: expect.stringContaining("The tree has changes") });
  expect(dirty.output).toContain("CHANGELOG.md");
  commit(dir);
  const missing = `CHANGELOG.md has no section "## ${version}"`;
  expect(release(dir)).toEqual({ code: 1, output: expect.stringContaining(missing) });
  run(dir, "git", "reset", "-q", "--hard", "HEAD~1");
}, 30_000);
