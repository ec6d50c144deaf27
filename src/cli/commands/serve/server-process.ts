import { logLevels } from "../../../server/config/server-config.ts";
import { type CommandArgs, fileArg } from "../../framework/args.ts";
import { buildInfo, ownCommand } from "../../terminal/build-info.ts";
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
    description: "Port to listen on; 0 picks a free one (default: 8080)",
  },
  log: {
    type: "enum",
    options: ["text", "json"],
    configEnv: "BODEGA_LOG",
    description: "Log format (default: text)",
  },
  "log-level": {
    type: "enum",
    options: logLevels,
    configEnv: "BODEGA_LOG_LEVEL",
    description: "Lowest level of log messages (default: info)",
  },
} as const satisfies CommandArgs;

/** The flags for the public address of a server, which `doctor` takes too. */
export const addressFlags = {
  "public-url": {
    type: "string",
    valueHint: "url",
    configEnv: "BODEGA_PUBLIC_URL",
    description: "Public URL of the server",
  },
  "trusted-proxy": {
    type: "string",
    valueHint: "cidr",
    multiple: true,
    configEnv: "BODEGA_TRUSTED_PROXY",
    description: "Address or CIDR range of proxies whose X-Forwarded-For is trusted",
  },
  "tls-cert": {
    ...fileArg("Certificate chain (PEM) for HTTPS; reloaded when it changes"),
    configEnv: "BODEGA_TLS_CERT",
  },
  "tls-key": { ...fileArg("Private key (PEM) of the certificate"), configEnv: "BODEGA_TLS_KEY" },
} as const satisfies CommandArgs;

/** The process that a server runs in. `--json` and `-q` suppress its announcement. */
export function describeServerProcess(console: Console) {
  return {
    version: buildInfo.version,
    env: console.env,
    command: ownCommand,
    print: async (text: string) => {
      if (!console.json && !console.quiet) await console.write(text);
    },
    writeLog: (text: string) => console.writeError(text),
  };
}
