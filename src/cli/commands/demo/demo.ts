import { readCliConfig } from "../../context/read-config.ts";
import { defineCommand } from "../../framework/command.ts";
import { printJson } from "../../terminal/output.ts";
import { describeServerProcess, serverFlags } from "../serve/server-process.ts";
import { formatDemoGuide } from "./demo-guide.ts";

const defaultDataDir = "bodega-demo";

export default defineCommand({
  name: "demo",
  description: "Serve a demo store with sample data",
  longRunning: true,
  args: serverFlags,
  examples: ["bodega demo", "bodega demo --port 9000 --data-dir /tmp/bodega-demo"],
  notes: [
    `It has its own data directory, ${defaultDataDir} unless --data-dir or BODEGA_DATA_DIR names another. ` +
      "Changes are kept there, and so is the secret of its key, so that the printed requests work after a restart.",
  ],
  async run(args, console) {
    const isNamed = console.env.BODEGA_DATA_DIR || console.env.BODEGA_DATA_DIR_FILE;
    const dataDir = args["data-dir"] ?? (isNamed ? undefined : defaultDataDir);
    const config = readCliConfig({ ...args, "data-dir": dataDir }, console);
    const { runServer } = await import("../../../server/runtime/serve.ts");
    const { seedDemo } = await import("../../../server/admin/demo.ts");
    let store: Awaited<ReturnType<typeof seedDemo>>;
    // A configured certificate belongs to a real store.
    return runServer(
      { ...config, tls: undefined },
      {
        ...describeServerProcess(console),
        prepare: async (db, vault) => {
          store = await seedDemo(db, vault, Date.now, config.dataDir);
        },
        onReady: async (url) => {
          const { namespace, appId: app_id, appSecret: app_secret, productId: product_id, email, password } = store;
          const answer = { url, data_dir: config.dataDir, namespace, app_id, app_secret, product_id, email, password };
          if (console.json) await printJson(console, answer);
          else await console.write(formatDemoGuide(answer));
        },
      },
    );
  },
});
