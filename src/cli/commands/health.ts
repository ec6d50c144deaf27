import { parseDuration } from "../duration.ts";
import { escapeControls } from "../escape.ts";
import { printJson } from "../output.ts";
import { formatServerUrl, probeHealth } from "../probe-health.ts";
import { readCliConfig } from "../read-config.ts";
import { defineVerb } from "../verb.ts";

export default defineVerb({
  name: "health",
  description: "Ask a running server whether it is ready",
  args: {
    url: { type: "string", valueHint: "url", description: "Address of the server (default: from --host and --port)" },
    host: { type: "string", valueHint: "address", configEnv: "BODEGA_HOST", description: "Host of the server" },
    port: { type: "string", valueHint: "number", configEnv: "BODEGA_PORT", description: "Port of the server" },
    timeout: { type: "string", valueHint: "span", default: "5s", description: "How long to wait for the answer" },
  },
  examples: ["bodega health", "bodega health --url https://shop.example.com --timeout 2s --json"],
  notes: ["The exit code is 0 when the server is ready and 1 when it is not, or does not answer."],
  async run(args, io) {
    const timeoutMs = parseDuration("--timeout", args.timeout);
    const url = args.url ?? formatServerUrl(readCliConfig(args, io, { host: args.host, port: args.port }));
    const health = await probeHealth(url, timeoutMs);
    if (io.json) await printJson(io, health);
    else if (!io.quiet) await io.write(`${escapeControls(`${health.status}: ${health.message} (${health.url})`)}\n`);
    return health.status === "ready" ? 0 : 1;
  },
});
