import { beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { splitShell } from "../cli/split-shell.ts";
import { type Binary, useBinaries } from "../support/binary.ts";
import { until } from "../support/until.ts";

const { installBinary } = useBinaries();
const wanted = ["--title", "My shop", "--owner-email", "ada@example.com", "--owner-random-password", "--publish"];

let binary: Binary;

beforeEach(() => {
  binary = installBinary();
});

/** Sends the request of the printed lines: the first puts the secret of a file into a header, the second is curl. */
async function sendAsCurl(lines: string): Promise<Response> {
  const form = /^\(umask 077; printf '(.*)%s:%s' (\S+) "\$\(cat (\S+)\)" > (\S+)\)\ncurl -H @(\S+) (.*)$/;
  const [, header = "", appId, file = "", headerFile, sameFile, rest = ""] = form.exec(lines) ?? [];
  expect([header, sameFile]).toEqual(["Authorization: Bearer ", headerFile]);
  const secret = readFileSync(join(binary.dir, file), "utf8").trim();
  const headers = new Headers({ authorization: `Bearer ${appId}:${secret}` });
  const words = splitShell(rest);
  let body = "";
  let url = "";
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === "-H") {
      const [name = "", value = ""] = (words.shift() as string).split(/: (.*)/);
      headers.set(name, value);
    } else if (word === "-d") body = words.shift() as string;
    else url = word;
  }
  return fetch(url, { method: "POST", headers, body });
}

test("one command creates a shop and serves it, and the printed first request works", async () => {
  const secretFile = ["--save-secret-to", join(binary.dir, "web.secret")];
  const server = await binary.serveBy([binary.path, "init", ...wanted, ...secretFile, "--serve", "--port", "0"]);
  const lines = await until("the first request", () => /\n(\(umask .*\ncurl .*)\n/.exec(server.stdout())?.[1]);
  expect(lines).toContain(server.url);
  const reply = await sendAsCurl(lines);
  expect([reply.status, await reply.json()]).toEqual([201, expect.objectContaining({ data: expect.anything() })]);
  // The printed commands work in the directory of the program.
  expect(server.stdout()).toContain("\n./bodega doctor\n");
  expect(await binary.run("doctor")).toMatchObject({ code: expect.any(Number) });
  expect(await server.end()).toBe(0);
  expect(server.stdout() + server.log()).not.toContain("sk_");
  const again = await binary.run("init");
  expect([again.code, again.stdout.includes("My shop"), again.stdout.includes("sk_")]).toEqual([0, true, false]);
});

test("the printed unit starts this program", async () => {
  expect(await binary.run("init", ...wanted)).toMatchObject({ code: 0 });
  const { code, stdout } = await binary.run("init", "--print-unit");
  expect(code).toBe(0);
  expect(stdout).toContain(`\nExecStart=${binary.path} serve --data-dir ${join(binary.dir, "bodega-data")}\n`);
});

test("a port in use does not lose the secrets of a new shop", async () => {
  const blocker = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(null) });
  const port = String(blocker.port);
  const { code, stdout, stderr } = await binary.run("init", ...wanted, "--serve", "--port", port);
  await blocker.stop(true);
  expect(code).toBe(1);
  expect(stdout).toMatch(/\nApp secret +sk_[\w-]{43}\n/);
  expect(stderr).toContain("is in use by another program");
  expect(readFileSync(join(binary.dir, "bodega-data", "bodega.env"), "utf8")).toContain(`BODEGA_PORT='${port}'`);
});
