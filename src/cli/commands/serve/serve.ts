import { backupDestination } from "../../../server/config/config.ts";
import { ownCommand } from "../../../server/config/own-command.ts";
import { logLevels } from "../../../server/config/server-config.ts";
import { readCliConfig } from "../../context/context.ts";
import { type CommandArgs, choiceArg, fileArg, valueArg, wordArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { type Console, invalidFlag, printJson } from "../../terminal/console.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { buildInfo } from "../version.ts";

/** Adds an environment variable to each flag, such as `BODEGA_LOG_LEVEL` to `log-level`. */
export function withVariables<const T extends CommandArgs>(flags: T): T {
  const entries = Object.entries(flags).map(([name, arg]) => {
    return [name, { env: `BODEGA_${name.replaceAll("-", "_").toUpperCase()}`, ...arg }];
  });
  return Object.fromEntries(entries) as T;
}

export const serverFlags = withVariables({
  host: valueArg("address", "Address to listen on (default: 127.0.0.1, with --acme 0.0.0.0)"),
  port: valueArg("number", "Port to listen on; 0 picks a free one (default: 8080, with --acme 443)"),
  log: choiceArg(["text", "json"], "Log format (default: text)"),
  "log-level": choiceArg(logLevels, "Lowest level of log messages (default: info)"),
});

export const addressFlags = withVariables({
  "public-url": valueArg("url", "Public URL of the server"),
  "trusted-proxy": valueArg("cidr", "Address or CIDR range of proxies whose X-Forwarded-For is trusted", {
    multiple: true,
  }),
  "tls-cert": fileArg("Certificate chain (PEM) for HTTPS; reloaded when it changes"),
  "tls-key": fileArg("Private key (PEM) of the certificate"),
  acme: valueArg("name", "Host name. The server obtains and renews its certificate", { multiple: true }),
  "acme-email": valueArg("address", "Email address for messages of the certificate authority"),
  "acme-directory": valueArg("url", "Directory of the certificate authority (default: Let's Encrypt)"),
  "acme-http-port": valueArg("number", "Port for the authority's checks and for redirects to https (default: 80)"),
});

export const replicateFlag = withVariables({
  "replicate-to": valueArg("dir|url", "Directory or s3://bucket/prefix for a copy of each change (default: none)", {
    completes: "directory",
  }),
});

export const serveFlags = withVariables({
  ...serverFlags,
  workers: valueArg("number", "Number of worker processes (default: 1)"),
  "reply-cache": valueArg("MiB", "Memory per worker for cached catalogue replies; 0 disables the cache (default: 32)"),
  ...addressFlags,
  "backup-every": valueArg("duration", "Make a backup at this interval, such as 24h (default: never)"),
  "backup-to": valueArg("dir|url", "Directory or s3://bucket/prefix for backups (default: in the data directory)", {
    completes: "directory",
  }),
  "backup-keep": valueArg("number", "Number of backups to keep (default: 7)"),
  "replicate-keep": valueArg("duration", "How far back `db restore --at` can go in the replica (default: 72h)"),
  "audit-addresses": valueArg("duration", "How long the audit log keeps IP addresses (default: 365d)"),
  "no-docs": { type: "boolean", description: "Do not serve the reference of the API at /docs" },
  "back-office": { type: "boolean", description: "Serve the page for the store's staff at /back-office/" },
  "allow-private-push": {
    type: "boolean",
    env: "BODEGA_PUSH_PRIVATE",
    description: "Allow Web Push endpoints on private networks and http, for development",
  },
});

/** Describes this process to `runServer`. With `--json` or `-q`, `print` prints nothing. */
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

function announce(console: Console, data_dir: string) {
  return async (url: string) => {
    if (console.json) await printJson(console, { url, data_dir });
  };
}

const serve = defineCommand({
  description: "Serve the HTTP API until stopped",
  args: {
    ...serveFlags,
    ...replicateFlag,
    "replace-replica": {
      type: "boolean",
      description:
        "Start even if the replica has newer changes than this database, and replace them (`db restore --at` can still restore them)",
    },
  },
  examples: [
    "bodega serve --acme shop.example.com --acme-email you@example.com --data-dir /var/lib/bodega",
    "bodega serve --workers 4 --backup-every 24h --replicate-to s3://my-bucket/shop",
  ],
  notes: [
    "The server updates the database schema first, and logs to standard error. On SIGTERM or SIGINT it waits up to ten " +
      "seconds for requests in flight; a second signal ends it at once.",
    "Changed certificate files take effect within seconds. SIGUSR2 restarts the server without closing its port.",
    "The exit code is 4 if a restart cannot help: another server writes to the replica now, the replica has newer changes, or the " +
      "database was removed. It is 1 if a restart may help, for example when the port or the data directory is in use.",
  ],
  async run(args, console) {
    console.releaseSignals();
    const config = readCliConfig(args, console);
    const { runServer } = await import("../../../server/runtime/serve.ts");
    const onReady = announce(console, config.dataDir);
    return runServer(config, { ...describeServerProcess(console), replaceReplica: args["replace-replica"], onReady });
  },
});

const standby = defineCommand({
  description: "Keep a second machine ready to take over from a server",
  args: {
    action: wordArg("Take over from the server, and serve (default: follow the server)", {
      required: false,
      options: ["promote"],
    }),
    from: valueArg("dir|url", "Directory or s3://bucket/prefix to which the server replicates", {
      env: "BODEGA_REPLICATE_TO",
      completes: "directory",
    }),
    ...serveFlags,
  },
  examples: ["bodega standby --from s3://my-bucket/shop --data-dir /var/lib/bodega", "bodega standby promote"],
  notes: [
    "The standby restores the newest state into an empty data directory, and applies each change within seconds. First copy the server's " +
      "secret.key and bodega.env into that directory. /health/live answers 200; /health/ready answers 503 and says how far the standby is behind.",
    "promote stops the standby of the data directory, applies the last changes, and serves. A server that still runs sends its last " +
      "changes, and ends with exit code 4. If promote fails, run it again.",
  ],
  async run(args, console) {
    console.releaseSignals();
    const { action, from } = args;
    const flags = { ...args, "replicate-to": backupDestination({ value: from, source: "--from" }) };
    const config = readCliConfig(flags, console);
    if (config.databaseUrl !== undefined) {
      throw invalidFlag("--database-url", "has no standby: it needs a database file");
    }
    const { dataDir, replicateTo } = config;
    const self = { ...describeServerProcess(console), onReady: announce(console, dataDir) };
    const { runStandby, stopStandby } = await import("../../../server/runtime/standby.ts");
    if (action === undefined) {
      if (replicateTo === undefined) throw invalidFlag("--from", "is required");
      return runStandby(config, replicateTo, self);
    }
    const { openReplica } = await import("../../../server/replication/target.ts");
    const { requireStandby } = await import("../../../server/replication/take-over.ts");
    const { readNewestClaim } = await import("../../../server/replication/generation.ts");
    const { runServer } = await import("../../../server/runtime/serve.ts");
    const { place } = requireStandby(config);
    const { host, data_dir, at } = (await readNewestClaim(openReplica(place, config)))?.claim ?? {};
    const server = host === undefined ? "its server" : `the server on ${host} (${data_dir}, since ${at})`;
    await confirmAction(console, `Take over ${place} from ${server}?`);
    await stopStandby(dataDir);
    return runServer({ ...config, replicateTo: place }, self);
  },
});

export default { serve, standby };
