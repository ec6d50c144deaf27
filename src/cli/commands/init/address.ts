import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Config, readConfig } from "../../../server/config/config.ts";
import { invalidField } from "../../../server/errors.ts";
import type { Console } from "../../terminal/console.ts";
import { askText, askYesNo } from "../../terminal/prompt.ts";
import type { InitArgs } from "./flags.ts";

const withOwnCertificate = "Serve HTTPS with your own certificate? Answer no behind a proxy that serves HTTPS.";

/** The settings of the server's address, as variables. At a terminal, those of a public address are asked for. */
export async function takeAddress(args: InitArgs, console: Console, { host, publicUrl, tls }: Config) {
  let { "public-url": url, "tls-cert": cert, "tls-key": key } = args;
  if (console.canAsk && !/^(?:127\.|::1$|localhost$)/.test(host)) {
    if (publicUrl === undefined) {
      const check = (text: string) => readConfig({ "data-dir": "/dev/null", "public-url": text }, {});
      url = await askText("Public URL, such as https://shop.example.com (optional)", { optional: true, check });
    }
    if (tls === undefined && (await askYesNo(withOwnCertificate, false))) {
      cert = await askText("Certificate chain (PEM file)", { check: requireFile });
      key = await askText("Private key of the certificate (PEM file)", { check: requireFile });
    }
  }
  return {
    BODEGA_PUBLIC_URL: url || undefined,
    BODEGA_TRUSTED_PROXY: args["trusted-proxy"].join(",") || undefined,
    BODEGA_TLS_CERT: cert && resolve(cert),
    BODEGA_TLS_KEY: key && resolve(key),
  };
}

function requireFile(path: string): void {
  if (!existsSync(path)) throw invalidField("path", `must be a file that can be read: ${path}`);
}
