import { logLevels } from "../../../server/config/server-config.ts";
import type { ArgValues, CommandArgs } from "../../framework/args.ts";
import { buildInfo, isExecutable } from "../../terminal/build-info.ts";
import type { Console } from "../../terminal/console.ts";

/** The flags of every command that starts a server. */
export const serverFlags = {
  host: {
    type: "string",
    valueHint: "address",
    configEnv: "BODEGA_HOST",
    description: "Address to listen on (default: 127.0.0.1)",
  },
  port: {
    type: "string",
    valueHint: "number",
    configEnv: "BODEGA_PORT",
    description: "Port to listen on; 0 takes a free one (default: 8080)",
  },
  log: {
    type: "enum",
    options: ["text", "json"],
    configEnv: "BODEGA_LOG",
    description: "Form of the log (default: text)",
  },
  "log-level": {
    type: "enum",
    options: logLevels,
    configEnv: "BODEGA_LOG_LEVEL",
    description: "How much the log says (default: info)",
  },
} as const satisfies CommandArgs;

/** The same as the configuration takes them. */
export function readServerFlags({ host, port, log, "log-level": logLevel }: ArgValues<typeof serverFlags>) {
  return { host, port, log, logLevel };
}

/** The flags that say how the world reaches a server: who starts one has them, and who looks whether it does. */
export const addressFlags = {
  "public-url": {
    type: "string",
    valueHint: "url",
    configEnv: "BODEGA_PUBLIC_URL",
    description: "Address under which the world sees the server",
  },
  "trusted-proxy": {
    type: "string",
    valueHint: "cidr",
    multiple: true,
    configEnv: "BODEGA_TRUSTED_PROXY",
    description: "Proxies whose X-Forwarded-For is believed",
  },
  "tls-cert": {
    type: "string",
    valueHint: "file",
    configEnv: "BODEGA_TLS_CERT",
    completes: "file",
    description: "Certificate chain (PEM) to serve https with; read again when it changes",
  },
  "tls-key": {
    type: "string",
    valueHint: "file",
    configEnv: "BODEGA_TLS_KEY",
    completes: "file",
    description: "Private key (PEM) of the certificate",
  },
} as const satisfies CommandArgs;

/** The same as the configuration takes them. */
export function readAddressFlags(args: ArgValues<typeof addressFlags>) {
  const { "public-url": publicUrl, "trusted-proxy": proxies, "tls-cert": tlsCert, "tls-key": tlsKey } = args;
  return { publicUrl, trustedProxy: proxies.length > 0 ? proxies : undefined, tlsCert, tlsKey };
}

/** How a server speaks and is started again; its announcement in words gives way to `--json` and `-q`. */
export function describeServerProcess(console: Console) {
  return {
    version: buildInfo.version,
    env: console.env,
    command: isExecutable ? [process.execPath] : [process.execPath, Bun.main],
    print: async (text: string) => {
      if (!console.json && !console.quiet) await console.write(text);
    },
    writeLog: (text: string) => console.writeError(text),
  };
}
