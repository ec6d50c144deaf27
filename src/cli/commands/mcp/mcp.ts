import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { attempt } from "../../../server/values/attempt.ts";
import { requiredNamespaceArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { warn } from "../../terminal/console.ts";
import { type CallApi, withLocalApi } from "../api/local-api.ts";
import { buildInfo } from "../version.ts";

/** The versions of the protocol that this command speaks, the newest first. */
const versions = ["2025-06-18", "2025-03-26", "2024-11-05"];

export default defineCommand({
  description: "Serve the API of a store to an agent, over the Model Context Protocol",
  args: {
    namespace: requiredNamespaceArg,
    "allow-writes": { type: "boolean", description: "Also offer tools that change the store" },
    as: valueArg("id|email", "Act as this user (default: as the operator of the store)", { completes: "user" }),
  },
  examples: ["bodega mcp -n demo", "bodega mcp -n demo --allow-writes --as ada@example.com"],
  notes: [
    "An agent starts this command, and speaks JSON-RPC with it on standard input and output until the agent closes the input. Each " +
      "endpoint of the API for staff is a tool. Without --allow-writes, no tool can change the store.",
  ],
  async run(args, console) {
    if (console.stdinIsTerminal) {
      await warn(console, "This command is for agents, which start it themselves. Press ctrl-D to end.");
    }
    return withLocalApi(args, console, async (call) => {
      const { createTools } = await import("../../../server/runtime/api-tools.ts");
      const tools = createTools(args["allow-writes"]);
      const input = Readable.from(console.streamInput());
      for await (const line of createInterface({ input })) {
        const answer = await answerLine(line, tools, (request) => call({ ...request, as: args.as }));
        if (answer !== undefined) await console.write(`${JSON.stringify(answer)}\n`);
        if (!console.hasReader()) return;
      }
    });
  },
});

type Tools = ReturnType<typeof import("../../../server/runtime/api-tools.ts").createTools>;

interface Message {
  id?: string | number;
  method?: unknown;
  params?: { protocolVersion?: string; name?: string; arguments?: Record<string, unknown> };
}

const failed = (id: string | number | null, code: number, message: string) => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});

/** Returns the answer to a message; undefined for a notification, which needs no answer. */
async function answerLine(line: string, tools: Tools, call: CallApi): Promise<object | undefined> {
  const message = attempt(() => JSON.parse(line) as Message | null);
  if (message === undefined) return failed(null, -32700, "This line is not JSON.");
  if (typeof message?.method !== "string") return failed(null, -32600, "This is not a request of JSON-RPC.");
  const { id, method, params = {} } = message;
  if (id === undefined) return undefined;
  const respond = (result: object) => ({ jsonrpc: "2.0", id, result });
  if (method === "ping") return respond({});
  if (method === "tools/list") return respond({ tools: tools.list });
  if (method === "initialize") {
    const protocolVersion = versions.find((one) => one === params.protocolVersion) ?? versions[0];
    const serverInfo = { name: "bodega", version: buildInfo.version };
    return respond({ protocolVersion, capabilities: { tools: {} }, serverInfo });
  }
  if (method !== "tools/call") return failed(id, -32601, `The method ${method} is not supported.`);
  const request = tools.requestOf(params.name, params.arguments ?? {});
  if (!request) return failed(id, -32602, `There is no tool ${params.name}. Tools that write need --allow-writes.`);
  // Errors become results, so that the agent reads them and can correct its call.
  const { status, envelope } = await call(request).catch(({ message }: Error) => ({ status: 500, envelope: message }));
  return respond({ content: [{ type: "text", text: JSON.stringify(envelope) }], isError: status >= 400 });
}
