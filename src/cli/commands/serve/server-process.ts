import { ownCommand } from "../../../server/config/own-command.ts";
import { logLevels } from "../../../server/config/server-config.ts";
import { type CommandArgs, choiceArg, fileArg, valueArg } from "../../framework/args.ts";
import { buildInfo } from "../../terminal/build-info.ts";
import type { Console } from "../../terminal/console.ts";

export const serverFlags = {
  host: { ...valueArg("address", "Address to listen on (default: 127.0.0.1)"), configEnv: "BODEGA_HOST" },
  port: { ...valueArg("number", "Port to listen on; 0 picks a free one (default: 8080)"), configEnv: "BODEGA_PORT" },
  log: { ...choiceArg(["text", "json"], "Log format (default: text)"), configEnv: "BODEGA_LOG" },
  "log-level": {
    ...choiceArg(logLevels, "Lowest level of log messages (default: info)"),
    configEnv: "BODEGA_LOG_LEVEL",
  },
} as const satisfies CommandArgs;

export const addressFlags = {
  "public-url": { ...valueArg("url", "Public URL of the server"), configEnv: "BODEGA_PUBLIC_URL" },
  "trusted-proxy": {
    ...valueArg("cidr", "Address or CIDR range of proxies whose X-Forwarded-For is trusted"),
    multiple: true,
    configEnv: "BODEGA_TRUSTED_PROXY",
  },
  "tls-cert": {
    ...fileArg("Certificate chain (PEM) for HTTPS; reloaded when it changes"),
    configEnv: "BODEGA_TLS_CERT",
  },
  "tls-key": { ...fileArg("Private key (PEM) of the certificate"), configEnv: "BODEGA_TLS_KEY" },
} as const satisfies CommandArgs;

export const replicateFlag = {
  "replicate-to": {
    ...valueArg("dir|url", "Directory or s3://bucket/prefix that gets each change within a second (default: none)"),
    configEnv: "BODEGA_REPLICATE_TO",
    completes: "directory",
  },
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
