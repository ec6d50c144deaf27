import { readCliConfig } from "../../context/read-config.ts";
import { defineCommand } from "../../framework/command.ts";
import { printJson } from "../../terminal/output.ts";
import {
  addressFlags,
  describeServerProcess,
  readAddressFlags,
  readServerFlags,
  serverFlags,
} from "./server-process.ts";

export default defineCommand({
  name: "serve",
  description: "Serve the HTTP API until stopped",
  longRunning: true,
  args: {
    ...serverFlags,
    workers: {
      type: "string",
      valueHint: "number",
      configEnv: "BODEGA_WORKERS",
      description: "Processes that share the port (default: 1)",
    },
    ...addressFlags,
    metrics: {
      type: "string",
      valueHint: "host:port",
      configEnv: "BODEGA_METRICS",
      description: "Serve /metrics for Prometheus on a listener of its own",
    },
    "backup-every": {
      type: "string",
      valueHint: "duration",
      configEnv: "BODEGA_BACKUP_EVERY",
      description: "Back the database up again and again, such as every 24h (default: never)",
    },
    "backup-to": {
      type: "string",
      valueHint: "dir|url",
      configEnv: "BODEGA_BACKUP_TO",
      completes: "directory",
      description: "Folder or s3://bucket/prefix for backups (default: backups in the data directory)",
    },
    "backup-keep": {
      type: "string",
      valueHint: "number",
      configEnv: "BODEGA_BACKUP_KEEP",
      description: "How many backups stay (default: 7)",
    },
    "allow-private-push": {
      type: "boolean",
      configEnv: "BODEGA_PUSH_PRIVATE",
      description: "Permit Web Push endpoints on this machine and private networks, and http: for development",
    },
  },
  examples: [
    "bodega serve",
    "bodega serve --host 0.0.0.0 --port 80 --workers 4 --data-dir /var/lib/bodega",
    "bodega serve --trusted-proxy 10.0.0.0/8 --log json",
    "bodega serve --backup-every 24h --backup-to /mnt/backups --backup-keep 14",
    "bodega serve --host 0.0.0.0 --port 443 --tls-cert fullchain.pem --tls-key privkey.pem",
  ],
  notes: [
    "The schema is brought up to date first. SIGTERM and SIGINT let requests that have begun finish, for ten seconds; " +
      "a second signal ends the server at once. The log goes to standard error.",
    "A certificate that changes is presented within seconds to who connects from then on; SIGHUP looks for it at once.",
  ],
  async run(args, console) {
    const config = readCliConfig(args, console, {
      ...readServerFlags(args),
      workers: args.workers,
      ...readAddressFlags(args),
      metrics: args.metrics,
      backupEvery: args["backup-every"],
      backupTo: args["backup-to"],
      backupKeep: args["backup-keep"],
      allowPrivatePush: args["allow-private-push"] ? "1" : undefined,
    });
    const { runServer } = await import("../../../server/runtime/serve.ts");
    return runServer(config, {
      ...describeServerProcess(console),
      onReady: async (url) => {
        if (console.json) await printJson(console, { url, data_dir: config.dataDir });
      },
    });
  },
});
