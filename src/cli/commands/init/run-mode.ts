import { existsSync } from "node:fs";
import type { ArgValues, CommandArgs } from "../../framework/args.ts";
import type { Console } from "../../terminal/console.ts";
import { serverFlags } from "../serve/server-process.ts";
import { askChoice, type Choice } from "./questions.ts";

export const runFlags = {
  systemd: { type: "boolean", description: "Write a systemd unit, so that the server starts at boot" },
  "print-unit": { type: "boolean", description: "Print a systemd unit" },
  "print-compose": { type: "boolean", description: "Print a compose file for Docker" },
  serve: { type: "boolean", negatable: true, description: "Start the server when done, or do not" },
  "unit-dir": {
    type: "string",
    valueHint: "dir",
    completes: "directory",
    description: "Directory for the unit of --systemd (default: /etc/systemd/system)",
  },
  ...serverFlags,
  "public-url": {
    type: "string",
    valueHint: "url",
    configEnv: "BODEGA_PUBLIC_URL",
    description: "Public address of the server",
  },
} as const satisfies CommandArgs;

/** How the server runs after `init`: `unit` and `compose` print a file, `systemd` installs a service. */
export type RunMode = "serve" | "systemd" | "unit" | "compose" | "none";

/** The run mode from the flags; undefined when they leave it open. */
export function readRunMode(args: ArgValues<typeof runFlags>): RunMode | undefined {
  if (args.systemd) return "systemd";
  if (args["print-unit"]) return "unit";
  if (args["print-compose"]) return "compose";
  if (args.serve === undefined) return undefined;
  return args.serve ? "serve" : "none";
}

export function askRunMode(console: Console): Promise<RunMode> {
  if (!console.canAsk) return Promise.resolve("none");
  const systemd: Choice<RunMode> = hasSystemd()
    ? { value: "systemd", name: "as a systemd service, started at boot" }
    : { value: "unit", name: "with systemd: print the unit" };
  return askChoice<RunMode>("How should the server run?", [
    { value: "serve", name: "now, in this terminal" },
    ...(process.platform === "linux" ? [systemd] : []),
    { value: "compose", name: "with Docker: print a compose file" },
    { value: "none", name: "do not start it yet" },
  ]);
}

/** Whether this account can install a service on this machine. */
export function hasSystemd(): boolean {
  return process.getuid?.() === 0 && existsSync("/run/systemd/system");
}
