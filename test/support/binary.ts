import { afterAll } from "bun:test";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { placeExecutable } from "./executable.ts";
import { type Serving, watchServer } from "./serving.ts";

/** The result of a finished command. */
export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** The fields of `key issue --json` that tests need. */
export interface IssuedKey {
  app_id: string;
  app_secret: string;
  [name: string]: unknown;
}

/** The executable alone in a new directory, as a user would have it. */
export interface Binary {
  /** The directory, without symbolic links; commands run in it. */
  dir: string;
  path: string;
  env: Record<string, string>;
  run: (...args: string[]) => Promise<Outcome>;
  /** Runs a command with this text on standard input. */
  feed: (input: string, ...args: string[]) => Promise<Outcome>;
  /** Runs a command that must succeed, and returns its one JSON value. */
  json: <T = Record<string, unknown>>(...args: string[]) => Promise<T>;
  /** Starts a server on a free port and waits for its announcement; flags may choose another port. */
  serve: (...flags: string[]) => Promise<Serving>;
  /** As `serve`, for a command line that becomes a server, such as a shell that redirects its streams. */
  serveBy: (command: string[]) => Promise<Serving>;
}

/** Makes directories with the executable; they and their servers are removed when the test file ends. */
export interface Binaries {
  /** Puts the executable into a new empty directory, with an environment without its variables. */
  installBinary: () => Binary;
  /** A new empty directory, without symbolic links in its path. */
  makeDir: () => string;
}

/** Call it at the top of a test file: Bun loads this module once, and a hook belongs to the file that adds it. */
export function useBinaries(): Binaries {
  const dirs: string[] = [];
  const servers: Serving[] = [];
  let firstPath: string | undefined;

  afterAll(async () => {
    for (const server of servers) {
      server.signal("SIGKILL");
      await server.exited;
    }
    for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
  });

  function makeDir(): string {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), "bodega-binary-")));
    dirs.push(dir);
    return dir;
  }

  function installBinary(): Binary {
    const dir = makeDir();
    const path = join(dir, "bodega");
    // It has more than a hundred megabytes, so all others are links to the first.
    if (firstPath === undefined) placeExecutable(path);
    else linkSync(firstPath, path);
    firstPath ??= path;
    return describeBinary(dir, path, servers);
  }

  return { installBinary, makeDir };
}

function describeBinary(dir: string, path: string, servers: Serving[]): Binary {
  const env: Record<string, string> = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: dir, TMPDIR: tmpdir() };

  const run = (...args: string[]) => runWith("ignore", args);
  const feed = (input: string, ...args: string[]) => runWith(Buffer.from(input), args);

  async function runWith(stdin: "ignore" | Buffer, args: string[]): Promise<Outcome> {
    const child = Bun.spawn([path, ...args], { cwd: dir, env, stdin, stdout: "pipe", stderr: "pipe" });
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return { code, stdout, stderr };
  }

  async function json<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await run(...args, "--json");
    if (code !== 0) throw new Error(`bodega ${args.join(" ")} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  async function serveBy(command: string[]): Promise<Serving> {
    const server = watchServer(Bun.spawn(command, { cwd: dir, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" }));
    servers.push(server);
    await server.ready();
    return server;
  }

  const serve = (...flags: string[]) =>
    serveBy([path, "serve", ...(flags.includes("--port") ? [] : ["--port", "0"]), ...flags]);
  return { dir, path, env, run, feed, json, serve, serveBy };
}

interface OpenShop {
  namespace: string;
  key: IssuedKey;
  auth: string;
}

interface ModelShop {
  shop: OpenShop;
  files: { name: string; bytes: Buffer }[];
}

/** The first shop with the usual name, with the machine's clock and with a test's. */
const models = new Map<boolean, Promise<ModelShop>>();

/**
 * A tenant with a published key of all scopes, made through the terminal. A new data directory gets a copy of the first
 * shop with the usual name, because the commands take ten times as long.
 */
export async function openShop(binary: Binary, namespace = "demo"): Promise<OpenShop> {
  const dataDir = join(binary.dir, "bodega-data");
  if (namespace !== "demo" || existsSync(dataDir) || binary.env.BODEGA_DATABASE_URL !== undefined) {
    return makeShop(binary, namespace);
  }
  const hasClock = binary.env.FAKE_CLOCK_FILE !== undefined;
  const model = models.get(hasClock);
  if (model === undefined) {
    const made = makeShop(binary, namespace).then((shop) => ({ shop, files: readFiles(dataDir) }));
    models.set(hasClock, made);
    return (await made).shop;
  }
  const { shop, files } = await model;
  mkdirSync(dataDir, { mode: 0o700 });
  for (const { name, bytes } of files) writeFileSync(join(dataDir, name), bytes, { mode: 0o600 });
  return shop;
}

async function makeShop(binary: Binary, namespace: string): Promise<OpenShop> {
  await binary.json("tenant", "create", namespace, "--currency", "EUR");
  const key = await binary.json<IssuedKey>("key", "issue", "-n", namespace, "--name", "web", "--publish");
  return { namespace, key, auth: `Bearer ${key.app_id}:${key.app_secret}` };
}

/** The files of a data directory that no process has open; SQLite makes the index of the WAL anew. */
function readFiles(dataDir: string): ModelShop["files"] {
  const names = readdirSync(dataDir).filter((name) => !name.endsWith("-shm"));
  return names.map((name) => ({ name, bytes: readFileSync(join(dataDir, name)) }));
}
