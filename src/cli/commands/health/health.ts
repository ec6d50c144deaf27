import { readCliConfig, refuseSecret } from "../../context/read-config.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseDuration } from "../../framework/parse-values.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { fitLines, printJson } from "../../terminal/output.ts";
import { formatServerUrl, probeHealth, probeOwnHealth } from "./probe-health.ts";

export default defineCommand({
  name: "health",
  description: "Ask a running server whether it is ready",
  args: {
    url: { type: "string", valueHint: "url", description: "Address of the server (default: from --host and --port)" },
    host: { type: "string", valueHint: "address", configEnv: "BODEGA_HOST", description: "Host of the server" },
    port: { type: "string", valueHint: "number", configEnv: "BODEGA_PORT", description: "Port of the server" },
    timeout: { type: "string", valueHint: "duration", default: "5s", description: "How long to wait for the answer" },
  },
  examples: ["bodega health", "bodega health --url https://shop.example.com --timeout 2s --json"],
  notes: [
    "The exit code is 0 when the server is ready and 1 when it is not, or does not answer.",
    "On its own machine a server is asked over https where it speaks that, and the name in its certificate is not judged; " +
      "that of --url is, and NODE_EXTRA_CA_CERTS names further authorities.",
  ],
  async run(args, console) {
    const timeoutMs = parseDuration("--timeout", args.timeout);
    if (args.url !== undefined) refuseSecret("--url", args.url, "Health is asked without credentials.");
    const own = () => formatServerUrl(readCliConfig(args, console, { host: args.host, port: args.port }));
    const health = await (args.url === undefined ? probeOwnHealth(own(), timeoutMs) : probeHealth(args.url, timeoutMs));
    if (console.json) await printJson(console, health);
    else if (!console.quiet) {
      await console.write(
        fitLines(console, `${escapeControls(`${health.status}: ${health.message} (${health.url})`)}\n`),
      );
    }
    return health.status === "ready" ? 0 : 1;
  },
});
