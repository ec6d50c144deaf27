import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { commandTree } from "../../src/cli/commands/command-tree.ts";
import { findCommand } from "../../src/cli/framework/find-command.ts";
import { findMissing } from "../../src/cli/framework/questions.ts";
import { readArgs } from "../../src/cli/framework/read-args.ts";
import { readConfig } from "../../src/server/config/config.ts";

const root = join(import.meta.dir, "../..");
const read = (name: string) => readFileSync(join(root, name), "utf8");

interface Compose {
  services: {
    bodega: {
      ports: string[];
      volumes: string[];
      tmpfs: string[];
      read_only: boolean;
      cap_drop: string[];
      build: string;
    };
  };
  volumes: Record<string, unknown>;
}

/** Returns the instructions of the last stage, which makes the image, by name. */
function readImage(): Map<string, string[]> {
  const text = read("Dockerfile").replaceAll("\\\n", " ");
  const stage = text.slice(text.lastIndexOf("\nFROM ") + 1);
  const instructions = new Map<string, string[]>();
  for (const line of stage.split("\n").filter((one) => /^[A-Z]+ /.test(one))) {
    const [name = "", ...words] = line.split(/ +/);
    instructions.set(name, [...(instructions.get(name) ?? []), words.join(" ")]);
  }
  return instructions;
}

const image = readImage();
const only = (name: string) => {
  const found = image.get(name) ?? [];
  expect([name, found.length]).toEqual([name, 1]);
  return found[0] as string;
};
const variables = Object.fromEntries(
  only("ENV")
    .split(" ")
    .map((pair) => pair.split("=") as [string, string]),
);

/** Fails unless the program accepts this command line. */
async function takes(words: string[]): Promise<void> {
  expect(words[0]).toBe("bodega");
  const { target, rest } = findCommand(commandTree, words.slice(1));
  if (typeof target !== "function") throw new Error(`no command: ${words.join(" ")}`);
  const { args } = await target();
  expect(findMissing(args, readArgs(rest, args))).toEqual([]);
}

test("the container image runs existing commands, as a separate account", async () => {
  await takes([...JSON.parse(only("ENTRYPOINT")), ...JSON.parse(only("CMD"))]);
  await takes(JSON.parse(only("HEALTHCHECK").replace(/^.* CMD /, "")));
  expect(only("USER")).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  const data = (image.get("COPY") ?? []).find((words) => words.endsWith(" /data"));
  expect(data).toContain(`--chown=${only("USER")}`);
});

test("the settings of the container image exist, and agree with its port and its volume", () => {
  const { dataDir, host, port } = readConfig({}, variables);
  expect([dataDir, host, String(port)]).toEqual([only("VOLUME"), "0.0.0.0", only("EXPOSE")]);
});

test("only the files that the container image is built from are sent to the builder", () => {
  const [every, ...lines] = read(".dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  expect(every).toBe("*");
  const sent = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
  for (const name of sent) expect([name, existsSync(join(root, name))]).toEqual([name, true]);
  // The top-level files that scripts and source use, and those that the package manager reads.
  for (const name of ["package.json", "bun.lock", "bunfig.toml", "scripts", "src", "drizzle", "tools"])
    expect(sent).toContain(name);
  for (const name of readdirSync(root))
    if (/data|demo|\.git|dist|test|modules/.test(name)) expect(sent).not.toContain(name);
});

test("the compose file keeps the data in a volume, and grants only the necessary permissions", () => {
  const { services, volumes } = Bun.YAML.parse(read("compose.yaml")) as Compose;
  const { bodega } = services;
  const [volume, place] = (bodega.volumes[0] as string).split(":");
  expect([Object.keys(volumes), place]).toEqual([[volume as string], only("VOLUME")]);
  // The port is published only on loopback, for a proxy in front of it.
  expect(bodega.ports).toEqual([`127.0.0.1:8080:${only("EXPOSE")}`]);
  expect([bodega.build, bodega.read_only, bodega.cap_drop]).toEqual([".", true, ["ALL"]]);
  expect(bodega.tmpfs[0]).toMatch(/^\/tmp:exec\b/);
});
