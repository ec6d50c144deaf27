import { afterAll, expect, test } from "bun:test";
import { type Serving, watchServer } from "../support/serving.ts";
import { type CalledCommand, fullLine, listCalledCommands, runCall } from "./every-command.ts";
import { usePromisedShapes } from "./json-shapes.ts";
import { type PreparedShop, usePreparedShop } from "./prepared-shop.ts";
import { command } from "./run-bodega.ts";

const copyShop = usePreparedShop();
const expectShape = await usePromisedShapes();
const commands = await listCalledCommands();
const servers = commands
  .filter(({ call }) => call.server === "is")
  .map((called): [string, CalledCommand] => [called.name, called]);
const askers = commands.filter(({ call }) => call.server === "needs");
const running: Serving[] = [];

afterAll(async () => {
  for (const server of running) await server.end("SIGKILL");
});

async function start(called: CalledCommand, shop: PreparedShop): Promise<Serving> {
  const child = Bun.spawn([...command, ...fullLine(called, shop), "--json"], {
    env: shop.env,
    cwd: shop.dir,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const server = watchServer(child);
  running.push(server);
  await server.ready();
  return server;
}

test.each(servers)(
  "bodega %s --json prints one JSON value until it is stopped, and commands to it work",
  async (name, called) => {
    const shop = copyShop();
    const server = await start(called, shop);
    for (const asker of name === "serve" ? askers : []) {
      const { code, stdout, stderr } = await runCall(asker, shop, [...fullLine(asker, shop), "--json"]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expectShape(asker.name, JSON.parse(stdout));
    }
    expect(await server.end()).toBe(0);
    expectShape(name, JSON.parse(server.stdout()));
  },
);
