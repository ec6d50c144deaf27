import { ownCommand } from "../../../server/config/own-command.ts";
import { logLevels } from "../../../server/config/server-config.ts";
import { readCliConfig } from "../../context/context.ts";
import { type CommandArgs, choiceArg, fileArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { buildInfo } from "../../terminal/build-info.ts";
import { type Console, printJson } from "../../terminal/console.ts";

export const serverFlags = {
  host: valueArg("address", "Address to listen on (default: 127.0.0.1)", { configEnv: "BODEGA_HOST" }),
  port: valueArg("number", "Port to listen on; 0 picks a free one (default: 8080)", { configEnv: "BODEGA_PORT" }),
  log: choiceArg(["text", "json"], "Log format (default: text)", { configEnv: "BODEGA_LOG" }),
  "log-level": choiceArg(logLevels, "Lowest level of log messages (default: info)", { configEnv: "BODEGA_LOG_LEVEL" }),
} as const satisfies CommandArgs;

export const addressFlags = {
  "public-url": valueArg("url", "Public URL of the server", { configEnv: "BODEGA_PUBLIC_URL" }),
  "trusted-proxy": valueArg("cidr", "Address or CIDR range of proxies whose X-Forwarded-For is trusted", {
    multiple: true,
    configEnv: "BODEGA_TRUSTED_PROXY",
  }),
  "tls-cert": fileArg("Certificate chain (PEM) for HTTPS; reloaded when it changes", { configEnv: "BODEGA_TLS_CERT" }),
  "tls-key": fileArg("Private key (PEM) of the certificate", { configEnv: "BODEGA_TLS_KEY" }),
} as const satisfies CommandArgs;

export const replicateFlag = {
  "replicate-to": valueArg(
    "dir|url",
    "Directory or s3://bucket/prefix that gets each change within a second (default: none)",
    { configEnv: "BODEGA_REPLICATE_TO", completes: "directory" },
  ),
} as const satisfies CommandArgs;

/** Describes the process of a server. `--json` and `-q` suppress its announcement. */
export function describeServerProcess(console: Console) {
  return {
    version: buildInfo.version,
    env: console.env,
    command: ownCommand,
    print: async (text: string) => {
      if (!console.json && !console.quiet) await console.write(text);
    },
    writeLog: (text: string) => console.writeError(text),
  };
}

export const serveFlags = {
  ...serverFlags,
  workers: valueArg("number", "Number of worker processes (default: 1)", { configEnv: "BODEGA_WORKERS" }),
  ...addressFlags,
  metrics: valueArg("host:port", "Serve Prometheus metrics on a separate address", { configEnv: "BODEGA_METRICS" }),
  "backup-every": valueArg("duration", "Make a backup at this interval, such as 24h (default: never)", {
    configEnv: "BODEGA_BACKUP_EVERY",
  }),
  "backup-to": valueArg(
    "dir|url",
    "Directory or s3://bucket/prefix for backups (default: backups in the data directory)",
    { configEnv: "BODEGA_BACKUP_TO", completes: "directory" },
  ),
  "backup-keep": valueArg("number", "Number of backups to keep (default: 7)", { configEnv: "BODEGA_BACKUP_KEEP" }),
  "replicate-keep": valueArg("duration", "How long each moment can be restored from there (default: 72h)", {
    configEnv: "BODEGA_REPLICATE_KEEP",
  }),
  "replicate-wal": valueArg("MiB", "Up to which size the WAL waits for the replica (default: 256)", {
    configEnv: "BODEGA_REPLICATE_WAL",
  }),
  "audit-addresses": valueArg("duration", "How long the audit log keeps IP addresses (default: 365d)", {
    configEnv: "BODEGA_AUDIT_ADDRESSES",
  }),
  "no-docs": {
    type: "boolean",
    configEnv: "BODEGA_NO_DOCS",
    description: "Do not serve the reference of the API at /docs",
  },
  "allow-private-push": {
    type: "boolean",
    configEnv: "BODEGA_PUSH_PRIVATE",
    description: "Allow Web Push endpoints on private networks and http, for development",
  },
} as const satisfies CommandArgs;

export default defineCommand({
  description: "Serve the HTTP API until stopped",
  longRunning: true,
  args: {
    ...serveFlags,
    ...replicateFlag,
    "take-over": {
      type: "boolean",
      description: "Replace the state of a replica that this database does not have; --at can restore it",
    },
  },
  examples: [
    "bodega serve --trusted-proxy 10.0.0.0/8 --workers 4 --data-dir /var/lib/bodega",
    "bodega serve --backup-every 24h --backup-to /mnt/backups --replicate-to s3://my-bucket/shop",
  ],
  notes: [
    "The server updates the database schema first, and logs to standard error. On SIGTERM or SIGINT it waits up to ten " +
      "seconds for requests in flight; a second signal ends it at once.",
    "When the certificate files change, new connections get the new certificate within seconds, or at once on SIGHUP.",
    "The exit code is 4 when another server took over the replica or has newer changes there, or when the database was removed; it " +
      "is 1 when the port, the data directory or the database is in use or does not answer, so that another try may succeed.",
  ],
  async run(args, console) {
    const config = readCliConfig(args, console);
    const { runServer } = await import("../../../server/runtime/serve.ts");
    return runServer(config, {
      ...describeServerProcess(console),
      takeOver: args["take-over"],
      onReady: async (url) => {
        if (console.json) await printJson(console, { url, data_dir: config.dataDir });
      },
    });
  },
});
