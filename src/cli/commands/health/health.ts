import { readCliConfig, refuseSecret } from "../../context/read-config.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseDuration } from "../../framework/parse-values.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { fitLines, printJson } from "../../terminal/output.ts";
import { formatServerUrl, probeHealth, probeOwnHealth } from "./probe-health.ts";

export default defineCommand({
  name: "health",
  description: "Check whether a running server is ready",
  args: {
    url: { type: "string", valueHint: "url", description: "Address of the server (default: from --host and --port)" },
    host: { type: "string", valueHint: "address", configEnv: "BODEGA_HOST", description: "Host of the server" },
    port: { type: "string", valueHint: "number", configEnv: "BODEGA_PORT", description: "Port of the server" },
    timeout: { type: "string", valueHint: "duration", default: "5s", description: "Time limit for the answer" },
  },
  examples: ["bodega health", "bodega health --url https://shop.example.com --timeout 2s --json"],
  notes: [
    "The exit code is 0 when the server is ready, and 1 when it is not ready or does not answer.",
    "The server of this machine is also tried over https, without verifying its certificate. The certificate of --url is " +
      "verified; NODE_EXTRA_CA_CERTS adds authorities.",
  ],
  async run(args, console) {
    const timeoutMs = parseDuration("--timeout", args.timeout);
    if (args.url !== undefined) refuseSecret("--url", args.url, "This check needs no credentials.");
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
