import { beforeAll, expect, test } from "bun:test";
import { openCli } from "./run-bodega.ts";

const { json, here } = openCli();

interface Answer {
  jsonrpc: string;
  id: number | null;
  result?: { content: { text: string }[]; isError: boolean; tools: { name: string; inputSchema: Schema }[] };
  error?: { code: number; message: string };
}

interface Schema {
  type: string;
  properties: Record<string, object>;
  required: string[];
}

/** Sends lines or messages to the command, and returns its answers. Messages get ids from 1. */
async function talk(flags: string[], ...messages: (object | string)[]): Promise<Answer[]> {
  const lines = messages.map((one, index) =>
    typeof one === "string" ? one : JSON.stringify({ jsonrpc: "2.0", id: index + 1, ...one }),
  );
  const { code, stdout, stderr } = await here(["mcp", "-n", "demo", ...flags], { input: `${lines.join("\n")}\n` });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

const call = (name: string, given: object = {}) => ({ method: "tools/call", params: { name, arguments: given } });
const envelopeOf = ({ result }: Answer) => JSON.parse(result?.content[0]?.text ?? "null");

beforeAll(async () => {
  for (const name of ["demo", "other"]) await json("tenant", "create", name);
  await json("product", "create", "-n", "demo", "--title", "Lamp", "--price", "12", "--sku", "L-1");
});

test("bodega mcp speaks the protocol: it returns version and tools, and does not answer notifications", async () => {
  const hello = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const answers = await talk(
    [],
    { method: "initialize", params: hello },
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    { method: "ping" },
    { method: "initialize", params: { ...hello, protocolVersion: "1999-01-01" } },
  );
  expect(answers).toEqual([
    expect.objectContaining({ id: 1, result: expect.objectContaining({ protocolVersion: "2024-11-05" }) }),
    { jsonrpc: "2.0", id: 3, result: {} },
    expect.objectContaining({ id: 4, result: expect.objectContaining({ protocolVersion: "2025-06-18" }) }),
  ]);
});

test("invalid messages get the errors of JSON-RPC, and the next request is answered", async () => {
  const answers = await talk([], "{", '["x"]', { method: "resources/list" }, call("dropAll"), { method: "ping" });
  expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
    [null, -32700],
    [null, -32600],
    [3, -32601],
    [4, -32602],
    [5, undefined],
  ]);
});

test("without --allow-writes, all tools only read; with --allow-writes, some tools write", async () => {
  const namesOf = async (...flags: string[]) => {
    const [answer] = await talk(flags, { method: "tools/list" });
    return answer?.result?.tools ?? [];
  };
  const [readers, all] = [await namesOf(), await namesOf("--allow-writes")];
  expect(readers.filter(({ name }) => !/^(?:list|get|report|export)[A-Z]/.test(name))).toEqual([]);
  expect(readers.map(({ name }) => name)).toEqual(expect.arrayContaining(["listOrders", "getProduct", "getStore"]));
  expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining(["createProduct", "refundOrder", "listOrders"]));
  expect(all.find(({ name }) => name === "patchProduct")?.inputSchema).toMatchObject({
    type: "object",
    properties: { id: {}, body: { properties: { title: {} } } },
    required: ["id", "body"],
  });
  const refused = await talk([], call("createProduct", { body: { title: "Mug", price: 3 } }));
  expect(refused[0]?.error?.message).toContain("--allow-writes");
});

test("a tool of mcp reads and writes only the chosen store, and returns errors of the API as results", async () => {
  const answers = await talk(
    ["--allow-writes"],
    call("listProducts", { limit: 1, sort: "title", namespace: "other" }),
    call("listProducts", { limit: 1, sort: "title" }),
    call("createProduct", { body: { title: "Mug", price: 3.5, sku: "M-1" } }),
    call("createProduct", { body: { title: "Mug" } }),
    call("getProduct", { id: "../../orders" }),
    call("listProducts", { q: "mug" }),
  );
  const [ofOther, listed, made, wrong, escaped, found] = answers.map(envelopeOf);
  expect(ofOther.data).toEqual(listed.data);
  expect(listed.data).toMatchObject([{ sku: "L-1" }]);
  expect(made.data).toMatchObject({ title: "Mug", price: 3.5 });
  expect(wrong.error).toMatchObject({ code: 5102 });
  expect(escaped.error).toMatchObject({ code: 5301 });
  expect(found.data).toMatchObject([{ sku: "M-1" }]);
  expect(answers.map(({ result }) => result?.isError)).toEqual([false, false, false, true, true, false]);
});

test("with --as, an agent may do only what the user may do", async () => {
  await here(["user", "create", "-n", "demo", "--email", "eve@example.com", "--password-stdin"], {
    input: "Marmalade-Teapot-73\n",
  });
  const [users] = await talk(["--as", "eve@example.com"], call("listUsers"));
  expect(users?.result?.isError).toBe(true);
});
