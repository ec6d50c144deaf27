import { writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The requests: GETs of several paths in rotation, or POSTs to one path with a new body each time or several in
 * rotation.
 */
export type Send =
  | { paths: readonly string[] }
  | { path: string; body: string }
  | { path: string; bodies: readonly string[] };

/** One load: requests of one kind for some seconds. */
export interface Load {
  url: string;
  headers: Record<string, string>;
  seconds: number;
  send: Send;
}

const connections = 32;
const script = join(import.meta.dir, "requests.lua");

/**
 * Loads a server with 32 connections from one thread of wrk.
 * @param workDir directory for wrk's script.
 * @returns requests answered a second.
 * @throws Error when a single request failed: a ratio of wrong answers would mean nothing.
 */
export async function runLoad(workDir: string, { url, headers, seconds, send }: Load): Promise<number> {
  const file = join(workDir, "requests.txt");
  writeFileSync(file, "body" in send ? send.body : ("paths" in send ? send.paths : send.bodies).join("\n"));
  const flags = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const kind = "path" in send ? ["body" in send ? "post" : "posts", send.path, file] : ["get", file];
  const command = [
    "wrk",
    "-t1",
    `-c${connections}`,
    `-d${seconds}s`,
    "--timeout",
    "10s",
    "-s",
    script,
    ...flags,
    url,
    "--",
    ...kind,
  ];
  const wrk = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [text, complaint] = await Promise.all([wrk.stdout.text(), wrk.stderr.text(), wrk.exited]);
  const line = text.trim().split("\n").at(-1) ?? "";
  if (!line.startsWith("{")) throw new Error(`wrk failed: ${complaint || text}`);
  const { requests = 0, us = 0, failed = 0 } = JSON.parse(line) as Record<string, number>;
  if (requests === 0 || us === 0) throw new Error(`${url} answered nothing to wrk.`);
  if (failed > 0) throw new Error(`${failed} of ${requests} requests (${kind[0]}) to ${url} failed.`);
  return (requests / us) * 1e6;
}
