import type { seedDemo } from "../../../server/admin/demo.ts";
import { integer } from "../../../server/config/environment.ts";
import { isExecutable } from "../../../server/config/own-command.ts";
import type { ServerProcess } from "../../../server/runtime/serve.ts";
import { quoteWord } from "../../../server/values/shell-quote.ts";
import { readCliConfig } from "../../context/context.ts";
import { valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { programName } from "../../terminal/command-line.ts";
import { printJson } from "../../terminal/console.ts";
import { openBrowser } from "../../terminal/open-browser.ts";
import { describeServerProcess, serverFlags } from "../serve/serve.ts";
import requests from "./demo-requests.txt" with { type: "text" };

type DemoStore = Awaited<ReturnType<typeof seedDemo>>;

const defaultDataDir = "bodega-demo";
const parsePort = (flag: string, text: string) => integer({ value: text, source: flag }, 0, 65535);
const portArg = (description: string) => valueArg("number", description, { parse: parsePort });

export default defineCommand({
  description: "Serve a demo store with sample data, an example shop and the back office for browsers",
  args: {
    ...serverFlags,
    "shop-port": portArg("Port of the shop; 0 picks a free one (default: the port after --port)"),
    "payment-port": portArg("Port of the test payments and mails; 0 picks a free one (default: --port + 2)"),
    examples: { type: "boolean", description: "Also print requests to paste into another terminal" },
    "no-open": { type: "boolean", description: "Do not open the shop in a browser" },
  },
  examples: ["bodega demo", "bodega demo --port 9000 --data-dir /tmp/bodega-demo"],
  notes: [
    "The shop is the example in examples/storefront. It has a port of its own, because shops usually have another origin than the API.",
    "Buyers pay on a test page that charges no card. Another page shows the mails, which are not sent.",
    `The data is in ${defaultDataDir}, unless --data-dir or BODEGA_DATA_DIR names another directory.`,
  ],
  async run(args, console) {
    console.releaseSignals();
    const isNamed = console.env.BODEGA_DATA_DIR || console.env.BODEGA_DATA_DIR_FILE;
    const dataDir = args["data-dir"] ?? (isNamed ? undefined : defaultDataDir);
    const config = readCliConfig({ ...args, "data-dir": dataDir }, console);
    const { runServer } = await import("../../../server/runtime/serve.ts");
    const demo = await import("../../../server/admin/demo.ts");
    const { openDemoShop } = await import("../../../server/runtime/demo-shop.ts");
    const self = describeServerProcess(console);
    // Without an installed program, the printed command runs the source code.
    const program = isExecutable ? programName() : "node scripts/setup.mjs src/cli/main.ts";
    const mail = `${program} mail list -n ${demo.demoNamespace} --data-dir ${quoteWord(config.dataDir)}`;
    const { startDemoServices } = await import("./services.ts");
    const shop = openDemoShop(config, args["shop-port"]);
    const services = await startDemoServices(config, args["payment-port"]).catch(async (error: unknown) => {
      await shop.stop();
      throw error;
    });
    let store: DemoStore;
    const onReady = async (url: string) => {
      const { namespace, pageId, pageSecret, ownerEmail: owner_email, email, password } = store;
      const { url: payment_url, mailUrl: mail_url } = services;
      const back_office_url = `${url}/back-office/?store=${namespace}`;
      await services.connect(store.ctx, url);
      shop.present({ api: url, namespace, key: { id: pageId, secret: pageSecret }, mail: mail_url });
      if (console.json) {
        const where = { shop_url: shop.url, url, back_office_url, payment_url, mail_url, data_dir: config.dataDir };
        const keys = { app_id: store.appId, app_secret: store.appSecret };
        const page = { page_app_id: pageId, page_app_secret: pageSecret, product_id: store.productId };
        return printJson(console, { ...where, namespace, ...keys, ...page, email, owner_email, password });
      }
      // The browser opens before the hint about Ctrl-C is printed, because users may end the demo when they see it.
      if (console.stdoutIsTerminal && !args["no-open"]) openBrowser(shop.url, console.env);
      await self.print(
        `Shop: ${shop.url}\nBack office: ${back_office_url} (${owner_email}, password ${password})\n` +
          `Mail: ${mail_url}\nAPI reference: ${url}/docs\nTo stop: press Ctrl-C\n`,
      );
      if (!args.examples) return;
      const values = new Map<string, unknown>(Object.entries({ ...store, url, mail }));
      await console.write(requests.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values.get(name))));
    };
    // The server itself prints nothing: `onReady` prints its addresses.
    const print = async () => {};
    const prepare: ServerProcess["prepare"] = async (db, vault) => {
      store = await demo.seedDemo(db, vault, Date.now, { dataDir: config.dataDir, shopUrl: shop.url });
    };
    try {
      // The demo uses plain HTTP, because a configured certificate is for a real store.
      return await runServer(
        { ...config, tls: undefined, stripeUrl: services.url, backOffice: true },
        { ...self, print, prepare, onReady },
      );
    } finally {
      await Promise.all([shop.stop(), services.stop()]);
    }
  },
});
