import type { seedDemo } from "../../server/admin/demo.ts";
import { readCliConfig } from "../context/read-config.ts";
import { defineCommand } from "../framework/command.ts";
import { printJson } from "../terminal/output.ts";
import { describeServerProcess, serverFlags } from "./serve/server-process.ts";

type DemoStore = Awaited<ReturnType<typeof seedDemo>>;

const defaultDataDir = "bodega-demo";

export default defineCommand({
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
    const { runServer } = await import("../../server/runtime/serve.ts");
    const demo = await import("../../server/admin/demo.ts");
    let store: DemoStore;
    // Serves plain HTTP: a configured certificate is for a real store.
    return runServer(
      { ...config, tls: undefined },
      {
        ...describeServerProcess(console),
        prepare: async (db, vault) => {
          store = await demo.seedDemo(db, vault, Date.now, config.dataDir);
        },
        onReady: async (url) => {
          const { namespace, appId: app_id, appSecret: app_secret, productId: product_id, email, password } = store;
          const page = { page_app_id: store.pageId, page_app_secret: store.pageSecret };
          const keys = { app_id, app_secret, ...page };
          const answer = { url, data_dir: config.dataDir, namespace, ...keys, product_id, email, password };
          if (console.json) await printJson(console, answer);
          else await console.write(formatGuide(store, url, config.dataDir));
        },
      },
    );
  },
});

/** Requests on the demo store that work when pasted into a shell. */
function formatGuide(store: DemoStore, url: string, dataDir: string): string {
  const { namespace, appId, appSecret, productId: product_id, email, password } = store;
  const curl = `curl -H 'Authorization: Bearer ${appId}:${appSecret}'`;
  const address = (path: string) => `'${url}${path}?namespace=${namespace}'`;
  const asPage = (path: string, query = "") =>
    `'${url}${path}?namespace=${namespace}&app_id=${store.pageId}&app_secret=${store.pageSecret}${query}'`;
  const json = "-H 'Content-Type: application/json'";
  const send = (body: object) => `${json} -d '${JSON.stringify(body)}'`;
  const steps: [string, string][] = [
    ["List its products, as a page does with its storefront key", `curl ${asPage("/products/")}`],
    ["Browse a category, with facets", `curl ${asPage("/products/", "&category=home&facets=categories")}`],
    ["Read one of them, as a page", `curl ${asPage(`/products/${product_id}/`)}`],
    ["Read it as a server, with its stock", `${curl} ${address(`/products/${product_id}/`)}`],
    ["Add one", `${curl} ${send({ title: "Blue mug", price: 12.5 })} ${address("/products/")}`],
    ["Change its price", `${curl} -X PATCH ${send({ price: 9.99 })} ${address(`/products/${product_id}/`)}`],
    ["Find some, as a page", `curl ${asPage("/products/", "&q=shirt&lang=de")}`],
    ["Order one", `${curl} ${send({ items: [{ product_id, quantity: 1 }] })} ${address("/orders/")}`],
    [
      "Like one, without an account",
      `curl ${send({ resource_type: "product", resource_id: product_id })} ${address("/likes/")}`,
    ],
    ["View it", `curl ${send({ resource_type: "product", resource_id: product_id })} ${address("/views/")}`],
    ["Sign a customer in", `curl ${send({ email, password })} ${address("/auth/login/")}`],
    ["Send them a password reset code", `curl ${send({ email })} ${address("/auth/password/forgot/")}`],
  ];
  const lines = steps.map(([title, command]) => `# ${title}\n${command}\n`);
  const mail = `# The demo sends no mail; this command lists the code\nbodega mail list -n ${namespace} --data-dir '${dataDir}'\n`;
  return `\nThe demo store is the namespace ${namespace}. Paste these into another terminal:\n\n${lines.join("\n")}\n${mail}\n`;
}
