import { resolve } from "node:path";
import { type Config, readConfig } from "../../../server/config/config.ts";
import { readCertificate, readChain } from "../../../server/tls/certificate.ts";
import type { Console } from "../../terminal/console.ts";
import { askText, askYesNo, introduce } from "../../terminal/prompt.ts";
import type { InitArgs } from "./flags.ts";

const withOwnCertificate = "Serve HTTPS with your own certificate? Answer no behind a proxy that serves HTTPS.";

/** Where to replicate to; undefined for nowhere, or where that is configured already. */
export async function takeReplica(args: InitArgs, console: Console, config: Config): Promise<string | undefined> {
  const { requirePlace } = await import("../../../server/replication/place.ts");
  const check = (text: string) => requirePlace(text, config);
  let { "replicate-to": given } = args;
  if (console.canAsk && (config.replicateTo ?? config.databaseUrl) === undefined) {
    await introduce(console, "A replica on another disk or in S3 has each change within a second.");
    given = await askText("Directory or s3://bucket/prefix of the replica (optional)", { optional: true, check });
  }
  return given ? check(given) : undefined;
}

/** The settings of the server's address, as variables. At a terminal, those of a public address are asked for. */
export async function takeAddress(args: InitArgs, console: Console, { host, publicUrl, tls }: Config) {
  let { "public-url": url, "tls-cert": cert, "tls-key": key } = args;
  if (console.canAsk && !/^(?:127\.|::1$|localhost$)/.test(host)) {
    if (publicUrl === undefined) {
      const check = (text: string) => readConfig({ "data-dir": "/dev/null", "public-url": text }, {});
      url = await askText("Public URL, such as https://shop.example.com (optional)", { optional: true, check });
    }
    if (tls === undefined && (await askYesNo(withOwnCertificate, false))) {
      const chain = await askText("Certificate chain (PEM file)", { check: readChain });
      cert = chain;
      const check = (file: string) => readCertificate({ cert: chain, key: file });
      key = await askText("Private key of the certificate (PEM file)", { check });
    }
  }
  return {
    BODEGA_PUBLIC_URL: url || undefined,
    BODEGA_TRUSTED_PROXY: args["trusted-proxy"].join(",") || undefined,
    BODEGA_TLS_CERT: cert && resolve(cert),
    BODEGA_TLS_KEY: key && resolve(key),
  };
}
