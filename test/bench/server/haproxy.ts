import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findPort, type Running, startServer } from "../process.ts";

/** HAProxy checks each copy at this interval in milliseconds, so a started copy gets requests after this time. */
export const checkEveryMs = 200;

/**
 * Starts HAProxy. A copy gets no requests after a failed connection or check, until a check succeeds. HAProxy sends a
 * request that could not be sent to another copy. An interrupted request gets 502, and its client must repeat it.
 */
export async function startBalancer(workDir: string, ports: readonly number[]): Promise<Running> {
  const port = await findPort();
  const servers = ports.map((target, index) => `  server copy${index} 127.0.0.1:${target}`);
  const file = join(workDir, "haproxy.cfg");
  writeFileSync(
    file,
    `defaults
  mode http
  timeout connect 1s
  timeout client 30s
  timeout server 30s
  timeout http-keep-alive 30s
  timeout check 2s
  retries 2
  option redispatch 1

frontend shop
  bind 127.0.0.1:${port}
  default_backend copies

backend copies
  balance roundrobin
  option httpchk GET /health/ready
  default-server check inter ${checkEveryMs}ms fall 1 rise 1 observe layer4 error-limit 1 on-error mark-down
${servers.join("\n")}
`,
  );
  const command = ["haproxy", "-db", "-f", file];
  return startServer(command, `http://127.0.0.1:${port}`, join(workDir, "haproxy.log"), "/health/ready");
}
