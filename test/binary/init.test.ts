import { beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { splitShell } from "../cli/split-shell.ts";
import { type Binary, useBinaries } from "../support/binary.ts";
import { until } from "../support/until.ts";

const { installBinary } = useBinaries();
const wanted = ["--title", "My shop", "--owner-email", "ada@example.com", "--random-password", "--publish"];

let binary: Binary;

beforeEach(() => {
  binary = installBinary();
});

test("one command creates a shop and serves it, and the printed next steps work", async () => {
  const secretFile = ["--save-secret-to", join(binary.dir, "web.secret")];
  const server = await binary.serveBy([binary.path, "init", ...wanted, ...secretFile, "--serve", "--port", "0"]);
  const create = await until("the next steps", () => /\n\.\/bodega (product create .*)\n/.exec(server.stdout())?.[1]);
  expect(await binary.run(...splitShell(create))).toMatchObject({ code: 0 });
  const [docs = ""] = /http\S+\/docs\n/.exec(server.stdout()) ?? [];
  // Repeats the request, because the guide is printed before the server listens.
  const status = () =>
    fetch(docs.trim()).then(
      ({ status }) => status,
      () => undefined,
    );
  expect([docs.trim(), await until("the server", status)]).toEqual([`${server.url}/docs`, 200]);
  // The printed commands must work in the directory of the executable.
  expect(server.stdout()).toContain("\n./bodega doctor\n");
  expect(await binary.run("doctor")).toMatchObject({ code: expect.any(Number) });
  expect(await server.end()).toBe(0);
  expect(server.stdout() + server.log()).not.toContain("sk_");
  const { stdout: unit } = await binary.run("init", "--print-unit");
  expect(unit).toContain(`\nExecStart=${binary.path} serve --data-dir ${join(binary.dir, "bodega-data")}\n`);
  const again = await binary.run("init");
  expect([again.code, again.stdout.includes("My shop"), again.stdout.includes("sk_")]).toEqual([0, true, false]);
});

test("if the port is in use, init still prints the secrets of the new shop", async () => {
  const blocker = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(null) });
  const port = String(blocker.port);
  const { code, stdout, stderr } = await binary.run("init", ...wanted, "--serve", "--port", port);
  await blocker.stop(true);
  expect(code).toBe(1);
  expect(stdout).toMatch(/\nApp secret +sk_[\w-]{43}\n/);
  expect(stderr).toContain("is in use by another program");
  expect(readFileSync(join(binary.dir, "bodega-data", "bodega.env"), "utf8")).toContain(`BODEGA_PORT='${port}'`);
});
