import { backupDestination } from "../../../server/config/backup-config.ts";
import { readCliConfig } from "../../context/context.ts";
import { valueArg, wordArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { printJson } from "../../terminal/console.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { invalidFlag } from "../../terminal/usage-error.ts";
import { describeServerProcess, serveFlags } from "./serve.ts";

export default defineCommand({
  description: "Keep a second machine ready to take over from a server",
  longRunning: true,
  args: {
    action: wordArg("Take over from the server, and serve; without it, follow the server", {
      required: false,
      options: ["promote"],
    }),
    from: valueArg("dir|url", "Directory or s3://bucket/prefix to which the server replicates", {
      configEnv: "BODEGA_REPLICATE_TO",
      completes: "directory",
    }),
    ...serveFlags,
  },
  examples: ["bodega standby --from s3://my-bucket/shop --data-dir /var/lib/bodega", "bodega standby promote"],
  notes: [
    "The standby restores the newest state into an empty data directory, and applies each change within seconds. Copy secret.key and " +
      "bodega.env of the server there first. /health/live answers 200 and /health/ready 503 with the lag.",
    "promote stops the standby of the data directory, applies the last changes, and serves. A server that still runs sends " +
      "its last changes and ends with exit code 4. If it fails, repeat it.",
  ],
  async run(args, console) {
    const { action, from } = args;
    const flags = { ...args, "replicate-to": backupDestination({ value: from, source: "--from" }) };
    const config = readCliConfig(flags, console);
    if (config.databaseUrl !== undefined)
      throw invalidFlag("--database-url", "has no standby: it needs a database file");
    const { dataDir, replicateTo } = config;
    const onReady = async (url: string) => {
      if (console.json) await printJson(console, { url, data_dir: dataDir });
    };
    const self = { ...describeServerProcess(console), onReady };
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
