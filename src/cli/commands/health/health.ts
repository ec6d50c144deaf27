import { addressOf } from "../../../server/runtime/port.ts";
import { quoteWord } from "../../../server/values/shell-quote.ts";
import { type DatabaseFlags, readCliConfig, refuseSecret } from "../../context/context.ts";
import { durationArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { type Console, fitLines, invalidFlag, printJson } from "../../terminal/console.ts";
import { escapeControls } from "../../terminal/text.ts";

export default defineCommand({
  description: "Check whether a running server is ready",
  args: {
    url: valueArg("url", "Address of the server (default: the server of the data directory)"),
    timeout: { ...durationArg("Time limit for the answer"), default: "5s" },
  },
  examples: ["bodega health", "bodega health --url https://shop.example.com --timeout 2s --json"],
  notes: [
    "The exit code is 0 when the server is ready, and 1 when it is not ready or does not answer.",
    "The server's certificate is verified only with --url. NODE_EXTRA_CA_CERTS adds certificate authorities.",
  ],
  async run(args, console) {
    const { url, timeout: timeoutMs } = args;
    if (url !== undefined) {
      refuseSecret("--url", url, "This check needs no credentials.");
      if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
        throw invalidFlag("--url", "must be an http or https address");
      }
    }
    const { address, start } =
      url === undefined ? await findServer(args, console, timeoutMs) : { address: url, start: null };
    const health = await probeHealth(address, timeoutMs, url === undefined);
    if (console.json) await printJson(console, health);
    else if (!console.quiet) {
      const remedy = start && health.message === "no connection" ? `. Start it: ${start}` : "";
      const line = escapeControls(`${health.status}: ${health.message} (${health.url})${remedy}`);
      await console.write(fitLines(console, `${line}\n`));
    }
    return health.status === "ready" ? 0 : 1;
  },
});

async function findServer(args: DatabaseFlags, console: Console, timeoutMs: number) {
  const config = readCliConfig(args, console);
  const { readServerStatus } = await import("../../../server/monitoring/listeners.ts");
  const { readStandbyState } = await import("../../../server/replication/standby.ts");
  const standby = readStandbyState(config.dataDir);
  const start = console.command(standby === undefined ? "serve" : `standby --from ${quoteWord(standby.place)}`);
  if (standby !== undefined) return { address: standby.url, start };
  const status = await readServerStatus(config.dataDir, timeoutMs);
  // The address comes from the running server, because its flags may differ from the settings.
  return { address: status?.url ?? addressOf(config), start };
}

/**
 * Requests `/health/ready`. Follows no redirects, because they may lead to the login page of a proxy.
 * @param isOwn whether `base` is the server of this machine. Its certificate names the public host, so it is not verified.
 * @returns the health. `http_status` is null if there was no reply.
 */
async function probeHealth(base: string, timeoutMs: number, isOwn: boolean) {
  const url = `${base.replace(/\/+$/, "")}/health/ready`;
  const started = performance.now();
  const describe = (status: "ready" | "not ready" | "unreachable", http_status: number | null, message: string) => {
    return { status, url, http_status, message, took_ms: Math.round(performance.now() - started) };
  };
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const tls = { rejectUnauthorized: !isOwn };
    const reply = await fetch(url, { redirect: "manual", signal, tls });
    const body = (await reply.json().catch(() => null)) as Record<string, Record<string, unknown>> | null;
    const message = String(body?.error?.message ?? body?.data?.warning ?? `the server answered ${reply.status}`);
    return describe(reply.status === 200 ? "ready" : "not ready", reply.status, message);
  } catch (error) {
    const { name, code, message } = error as { name?: string; code?: unknown; message?: string };
    const isRefused = typeof code === "string" && /CERT|ISSUER|SIGNATURE|TLS/.test(code);
    const refused = isRefused ? `certificate rejected: ${message}` : "no connection";
    const reason = name === "TimeoutError" ? "no answer in time" : refused;
    return describe("unreachable", null, reason);
  }
}
