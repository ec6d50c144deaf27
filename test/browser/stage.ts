import { type Binary, useBinaries } from "../support/binary.ts";
import type { Serving } from "../support/serving.ts";
import { type Chromium, startChromium } from "./chromium.ts";

/** The JSON that `bodega demo --json` prints. */
type Printed = Record<
  | "shop_url"
  | "url"
  | "back_office_url"
  | "payment_url"
  | "mail_url"
  | "app_id"
  | "app_secret"
  | "page_app_id"
  | "page_app_secret"
  | "email"
  | "owner_email"
  | "password",
  string
>;

/** The demo, started with only the executable in its directory, and a browser. */
export interface Stage extends Printed {
  chromium: Chromium;
  binary: Binary;
  server: Serving;
  /** Further origins to which pages may send requests. */
  origins: string[];
  /** Calls the API with the demo's key that has all scopes. Returns `data`. */
  call: <T>(method: string, path: string, body?: object) => Promise<T>;
}

/** Call this at the top of a test file. `open` starts the server and the browser, `close` ends them. */
export function useStage() {
  const { installBinary } = useBinaries();
  const stage = {} as Stage;

  async function open(): Promise<void> {
    const binary = installBinary();
    // Allows the push service of the tests, which is on this machine.
    binary.env.BODEGA_PUSH_PRIVATE = "1";
    binary.env.BODEGA_TRUSTED_PROXY = "127.0.0.1/32";
    const server = await binary.serveBy([binary.path, "demo", "--json", "--port", "0"]);
    const printed = JSON.parse(server.stdout()) as Printed;
    const origins = [printed.url, printed.shop_url, printed.payment_url];
    const chromium = await startChromium(() => origins);
    const call: Stage["call"] = async (method, path, body) => {
      const reply = await fetch(`${printed.url}${path}?namespace=demo`, {
        method,
        headers: {
          authorization: `Bearer ${printed.app_id}:${printed.app_secret}`,
          "content-type": "application/json",
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${await reply.text()}`);
      return ((await reply.json()) as { data: never }).data;
    };
    Object.assign(stage, { ...printed, chromium, binary, server, origins, call });
  }

  async function close(): Promise<void> {
    await stage.chromium?.close();
    await stage.server?.end();
  }

  return { stage, open, close };
}
