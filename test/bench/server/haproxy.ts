import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../support/until.ts";
import { findPort, type Running, startServer } from "../process.ts";

/** HAProxy before copies of the executable. */
export interface Balancer extends Running {
  /** Resolves when it sends requests to all copies. */
  allUp: () => Promise<void>;
}

/**
 * Starts HAProxy. A copy leaves with its first failed connection or check, and returns with its next good check. A
 * request that could not be sent goes to another copy; one that was cut is answered 502, and its client must repeat it.
 */
export async function startBalancer(workDir: string, copies: readonly string[]): Promise<Balancer> {
  const [port, statsPort] = [await findPort(), await findPort()];
  const servers = copies.map((url, index) => `  server copy${index} ${new URL(url).host}`);
  const config = `defaults
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
  default-server check inter 200ms fall 1 rise 1 observe layer4 error-limit 1 on-error mark-down
${servers.join("\n")}

frontend stats
  bind 127.0.0.1:${statsPort}
  stats enable
  stats uri /
`;
  const file = join(workDir, "haproxy.cfg");
  writeFileSync(file, config);
  const url = `http://127.0.0.1:${port}`;
  const command = ["haproxy", "-db", "-f", file];
  const balancer = await startServer(command, url, "/health/ready", join(workDir, "haproxy.log"));
  const isAllUp = async () => {
    const table = await (await fetch(`http://127.0.0.1:${statsPort}/;csv`)).text();
    return (table.match(/^copies,copy\d+,.*,UP,/gm) ?? []).length === copies.length;
  };
  return {
    ...balancer,
    allUp: async () => {
      await until("HAProxy to use all copies", isAllUp);
    },
  };
}
