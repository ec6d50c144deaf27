import { extname } from "node:path";
import { filePages } from "../api/pages/file-pages.ts";
import { fixedPage } from "../api/pages/pages.ts";
import type { Config } from "../config/config.ts";
import { collectFiles } from "../values/collect-files.ts" with { type: "macro" };
import { addressOf, bindPort } from "./port.ts";

interface ShopConfig {
  api: string;
  namespace: string;
  key: { id: string; secret: string };
  mail: string;
}

const files = collectFiles("../../examples/storefront") as Record<string, string>;
const json = "application/json; charset=utf-8";

/**
 * Serves the demo's shop on the port `given`, or on the port after the API's port. Requests wait until `present` is
 * called with the address of the API.
 * @throws unavailable if the port is in use or the host is not an address of this machine.
 */
export function openDemoShop(config: Config, given: number | undefined) {
  const ready = Promise.withResolvers<(request: Request) => Promise<Response>>();
  const port = given ?? (config.port === 0 ? 0 : config.port + 1);
  const server = bindPort({ ...config, port, flag: "--shop-port" }, () =>
    Bun.serve({
      hostname: config.host,
      port,
      reusePort: false,
      development: false,
      fetch: async (request) => (await ready.promise)(request),
    }),
  );
  return {
    url: addressOf({ ...config, tls: undefined, port: server.port ?? port }),
    present: (shop: ShopConfig) => ready.resolve(answerShop(shop)),
    stop: () => server.stop(true),
  };
}

function answerShop(shop: ShopConfig) {
  const pages = filePages(files).set(
    "config.json",
    fixedPage(json, () => JSON.stringify(shop)),
  );
  const safety = {
    "Content-Security-Policy":
      `default-src 'none'; script-src 'self' ${shop.api}; style-src 'self'; img-src 'self' ${shop.api} data:; ` +
      `connect-src 'self' ${shop.api}; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; ` +
      "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
  };
  return async (request: Request): Promise<Response> => {
    const refuse = (status: number, words: string, more = {}) => {
      const headers = { ...safety, "Content-Type": "text/plain; charset=utf-8", ...more };
      return new Response(`${words}\n`, { status, headers });
    };
    if (!["GET", "HEAD"].includes(request.method)) return refuse(405, "Method not allowed", { Allow: "GET, HEAD" });
    // The Host header can contain anything, so the URL may be invalid.
    const { pathname, search } = URL.parse(request.url) ?? {};
    if (pathname === undefined) return refuse(400, "The Host header is invalid");
    // The shop reads the path of a view after the `#`, so other paths are redirected there.
    if (pathname !== "/" && extname(pathname) === "")
      return refuse(302, "See /", { Location: `/#${pathname}${search}` });
    const page = pages.get(pathname.slice(1) || "index.html");
    return page ? (await page(request))({ ...safety }, "") : refuse(404, "Not found");
  };
}
