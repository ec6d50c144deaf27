import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import bun from "../tools/bun/package.json" with { type: "json" };
import reference from "../tools/reference/package.json" with { type: "json" };
import shipped from "../tools/targets/package.json" with { type: "json" };

const root = join(import.meta.dir, "..");

interface Requirements {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  optionalPeers?: string[];
}

/** An entry of bun.lock: `name@version`, the registry, the requirements, and the checksum. */
type Locked = [string, string, Requirements, string];

/** Reads the entries of bun.lock by place, which is `elysia`, or `a/b` for the version of `b` that only `a` uses. */
function readLock(): Record<string, Locked> {
  const text = readFileSync(join(root, "bun.lock"), "utf8");
  return JSON.parse(text.replace(/,(\s*[}\]])/g, "$1")).packages;
}

/** Returns the place of the package that `from` imports by a name: in `from`, or in a package that contains `from`. */
function resolvePlace(lock: Record<string, Locked>, from: string, name: string): string | undefined {
  for (let around = from; around !== ""; around = around.replace(/\/?(?:@[^/]+\/)?[^/]+$/, "")) {
    if (lock[`${around}/${name}`]) return `${around}/${name}`;
  }
  return lock[name] && name;
}

/** Lists the requirements of a package that an executable contains. Of the optional ones, only add-ons are listed. */
function listNeeds({ dependencies, optionalDependencies, peerDependencies, optionalPeers = [] }: Requirements) {
  const optional = Object.keys(optionalDependencies ?? {}).filter((name) => name in shipped.optionalDependencies);
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => !optionalPeers.includes(name));
  return [...new Set([...Object.keys(dependencies ?? {}), ...optional, ...peers])];
}

/** Returns the places of all packages in the executable, each with the places of the packages that it needs. */
function findRuntimePackages(lock: Record<string, Locked>): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const waiting = Object.keys(manifest.dependencies);
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    if (found.has(place)) continue;
    const from = place;
    const needs = listNeeds((lock[place] as Locked)[2]).map((name) => resolvePlace(lock, from, name));
    const places = needs.filter((one) => one !== undefined);
    found.set(place, places);
    waiting.push(...places);
  }
  return found;
}

/** Returns the license that a package names; undefined if the package is not installed. */
function readLicense(place: string): string | undefined {
  const path = join(place.match(/(?:@[^/]+\/)?[^/]+/g)?.join("/node_modules/") ?? "", "package.json");
  const caches = globSync("node_modules/.cache/build-targets/*/node_modules", { cwd: root });
  const file = ["node_modules", ...caches].map((folder) => join(root, folder, path)).find(existsSync);
  return file && JSON.parse(readFileSync(file, "utf8")).license;
}

interface Described {
  name: string;
  version: string;
  license: string | undefined;
  /** The checksum as npm writes it: `sha512-` and base64. */
  integrity?: string;
}

function describeComponent({ name, version, license, integrity }: Described) {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const content = integrity && Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
  const licenses =
    license === undefined ? [] : [/[ (]/.test(license) ? { expression: license } : { license: { id: license } }];
  return {
    type: "library",
    "bom-ref": purl,
    name,
    version,
    ...(content && { hashes: [{ alg: "SHA-512", content }] }),
    licenses,
    purl,
  };
}

/** Returns the software bill of materials of the executables, in CycloneDX 1.6. @param madeAt RFC 3339. */
export function describeMaterials(version: string, madeAt: string) {
  const lock = readLock();
  const packages = findRuntimePackages(lock);
  const components = new Map(
    [...packages.keys()].sort().map((place) => {
      const [id, , , integrity] = lock[place] as Locked;
      const at = id.lastIndexOf("@");
      const license = readLicense(place);
      return [place, describeComponent({ name: id.slice(0, at), version: id.slice(at + 1), license, integrity })];
    }),
  );
  const refOf = (place: string) => (components.get(place) as { "bom-ref": string })["bom-ref"];
  const embedded = [
    describeComponent({ name: "bun", version: bun.dependencies.bun, license: "MIT" }),
    describeComponent({ ...reference.bodega, license: "MIT" }),
  ];
  const product = { type: "application", "bom-ref": "bodega", name: manifest.name, version };
  const direct = [...Object.keys(manifest.dependencies).map(refOf), ...embedded.map((one) => one["bom-ref"])];
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      timestamp: madeAt,
      component: { ...product, licenses: [{ license: { id: manifest.license } }] },
    },
    components: [...components.values(), ...embedded],
    dependencies: [
      { ref: "bodega", dependsOn: direct },
      ...[...packages].map(([place, needs]) => ({ ref: refOf(place), dependsOn: needs.map(refOf) })),
    ],
  };
}
