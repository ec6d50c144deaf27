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

/** The fields of `key issue --json` that tests use. */
export interface IssuedKey {
  app_id: string;
  app_secret: string;
  [name: string]: unknown;
}

/** The executable in a new directory without other files, as for users. */
export interface Binary {
  /** The path of the directory, without symbolic links. Commands run there. */
  dir: string;
  path: string;
  env: Record<string, string>;
  run: (...args: string[]) => Promise<Outcome>;
  /** Runs a command with `input` on standard input. */
  feed: (input: string, ...args: string[]) => Promise<Outcome>;
  /** Runs a command that must succeed. Returns the JSON value that it prints. */
  json: <T = Record<string, unknown>>(...args: string[]) => Promise<T>;
  /** Starts a server on a free port, unless flags choose one. Waits until it is announced. */
  serve: (...flags: string[]) => Promise<Serving>;
  /** Starts a server like `serve`, with any command line, such as a shell with redirections. */
  serveBy: (command: string[]) => Promise<Serving>;
}

/** Creates directories with the executable. They and their servers are removed when the test file ends. */
export interface Binaries {
  /** Puts the executable into a new directory, with an environment without BODEGA_ variables. */
  installBinary: () => Binary;
  /** Creates an empty directory. Its path has no symbolic links. */
  makeDir: () => string;
}

/** Call this at the top of a test file. Bun loads this module once, so each file must add its own hooks. */
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
    // All later executables are links to the first, because it has more than a hundred megabytes.
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

/** The first shops named `demo`: with the machine's clock, and with a test's clock. */
const models = new Map<boolean, Promise<ModelShop>>();

/**
 * Creates a tenant with a published key of all scopes, through commands. A new data directory gets a copy of the first
 * shop, because the commands take ten times as long.
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

/**
 * Reads the files of a data directory that no process has open. The index of the WAL is omitted, because SQLite creates
 * it again.
 */
function readFiles(dataDir: string): ModelShop["files"] {
  const names = readdirSync(dataDir).filter((name) => !name.endsWith("-shm"));
  return names.map((name) => ({ name, bytes: readFileSync(join(dataDir, name)) }));
}
