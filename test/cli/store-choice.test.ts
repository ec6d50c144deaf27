import { beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDir, openCli } from "./run-bodega.ts";
import { runHere } from "./run-here.ts";

const { environment, json, failure } = openCli();
const here = (...line: string[]) => runHere(line, { env: environment() });
let appId: string;

beforeAll(async () => {
  await json("tenant", "create", "mugs");
  appId = (await json<{ app_id: string }>("key", "issue", "--name", "web")).app_id;
});

test("if there is only one store, a command needs no -n, and prints which store it uses", async () => {
  expect(await here("user", "list")).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^Using store mugs\.\nNo users found\./),
  });
  expect(await here("key", "list", "-q")).toEqual({ code: 0, stdout: `${appId}\n`, stderr: "" });
  expect((await here("key", "show", "web", "-q")).stdout).toBe(`${appId}\n`);
  expect((await here("__complete", "w", "key", "show")).stdout).toStartWith("web\t");
});

test("a command that changes or deletes a store needs the store's name", async () => {
  for (const verb of ["show", "suspend", "delete"]) {
    expect(await failure("tenant", verb, "--yes")).toMatchObject({
      code: 2,
      error: { message: "Missing <namespace>." },
    });
  }
});

test("without a database, the error says how to create a database, not that a store is missing", async () => {
  const { failure } = openCli();
  for (const line of [
    ["key", "list"],
    ["product", "list"],
  ]) {
    const { code, error } = await failure(...line);
    expect([code, error.message]).toEqual([3, expect.stringContaining("Database not found in")]);
    expect(error.remedy).toContain("bodega init");
  }
  expect(await failure("tenant", "create")).toMatchObject({ code: 2, error: { message: "Missing <namespace>." } });
});

test("if there are several stores, a command needs -n, unless the environment or bodega.env names a store; the environment takes precedence", async () => {
  const { dataDir, environment, json, failure } = openCli();
  const here = (...line: string[]) => runHere(line, { env: environment() });
  await json("tenant", "create", "mugs");
  const { app_id } = await json("key", "issue", "--name", "web");
  await json("tenant", "create", "shirts");
  const message = "Missing --namespace. Stores: mugs, shirts.";
  expect(await failure("user", "list")).toMatchObject({ code: 2, error: { message } });
  expect(await failure("key", "show", "web")).toMatchObject({ code: 3 });
  writeFileSync(join(dataDir, "bodega.env"), "BODEGA_NAMESPACE=mugs\n");
  expect((await here("key", "list", "-q")).stdout).toBe(`${app_id}\n`);
  expect((await here("key", "show", "web", "-q")).stdout).toBe(`${app_id}\n`);
  expect((await here("tenant", "show", "-q")).stdout).toBe("mugs\n");
  expect((await here("key", "list", "-n", "shirts", "-q")).stdout).toBe("");
  const line = ["key", "list", "-q"];
  expect((await runHere(line, { env: environment({ BODEGA_NAMESPACE: "shirts" }) })).stdout).toBe("");
  expect((await runHere(line, { env: environment({ BODEGA_DATA_DIR: makeDir() }) })).code).toBe(3);
});
