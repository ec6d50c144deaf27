import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** A request. Each time, a new number of eight digits replaces `@@@@@@@@` in its path or body. */
export interface Request {
  method?: "GET" | "POST" | "PATCH";
  path: string;
  body?: string;
}

/** A load: requests that are sent in turn for some seconds. */
interface Load {
  url: string;
  headers: Record<string, string>;
  seconds: number;
  requests: readonly Request[];
  connections: number;
}

/** The figures of a load: answered requests, requests per second, and the p99 latency. */
export interface Answered {
  count: number;
  perSecond: number;
  p99Ms: number;
}

const script = join(import.meta.dir, "requests.lua");
let loads = 0;

/**
 * Loads a server with one thread of wrk.
 * @param workDir directory for the list of requests.
 * @throws Error if a request failed, because the benchmark must not measure wrong replies.
 */
export async function runLoad(
  workDir: string,
  { url, headers, seconds, requests, connections }: Load,
): Promise<Answered> {
  const file = join(workDir, "requests.txt");
  writeFileSync(file, requests.map(({ method = "GET", path, body = "" }) => `${method} ${path} ${body}`).join("\n"));
  const flags = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  // Each load begins with higher numbers than any earlier load can have used.
  loads += 1;
  const command = [
    ...["wrk", "-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "10s", "-s", script],
    ...[...flags, url, "--", file, String((loads * 500_000) % 100_000_000)],
  ];
  const wrk = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [text, complaint] = await Promise.all([wrk.stdout.text(), wrk.stderr.text(), wrk.exited]);
  const line = text.trim().split("\n").at(-1) ?? "";
  if (!line.startsWith("{")) throw new Error(`wrk failed: ${complaint || text}`);
  const { count = 0, us = 0, failed = 0, p99 = 0 } = JSON.parse(line) as Record<string, number>;
  const [{ method = "GET", path } = { path: "" }] = requests;
  if (count === 0 || us === 0) throw new Error(`${url} answered nothing to wrk.`);
  if (failed > 0) throw new Error(`${failed} of ${count} requests (${method} ${url}${path}) failed.`);
  return { count, perSecond: (count / us) * 1e6, p99Ms: p99 / 1000 };
}
