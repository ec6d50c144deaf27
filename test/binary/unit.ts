import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Binary } from "../support/binary.ts";
import { findPort } from "../support/port.ts";

/**
 * A replacement for `systemctl` in the PATH of an executable, because the machine may not run systemd. It starts and
 * stops one server. The main process is the newest server of the session.
 */
export interface Unit {
  url: string;
  /** Returns everything that its servers have logged. */
  log: () => string;
  start: () => void;
  stop: () => void;
}

export function installUnit(binary: Binary, tools: string): Unit {
  const port = findPort();
  const [pid, log] = [join(tools, "pid"), join(tools, "log")];
  const script = `#!/bin/sh
main() { [ -s ${pid} ] && pgrep -n -r RSDT -s "$(cat ${pid})" -f '^${binary.path} serve'; }
case $1 in
show) main || echo 0 ;;
start)
  main > /dev/null && exit 0
  setsid ${binary.path} serve --data-dir ${join(binary.dir, "bodega-data")} --port ${port} > ${log} 2>&1 < /dev/null &
  echo $! > ${pid}
  for try in 1 2 3 4 5 6 7 8 9; do main && break; sleep 0.1; done > /dev/null ;;
stop)
  [ -z "$STOP_REFUSED" ] || { echo "Access denied" >&2; exit 1; }
  main | xargs -r kill
  while main > /dev/null; do sleep 0.02; done ;;
esac
`;
  writeFileSync(join(tools, "systemctl"), script);
  chmodSync(join(tools, "systemctl"), 0o755);
  binary.env.PATH = `${tools}:${binary.env.PATH}`;
  const control = (verb: string) => {
    const { exitCode } = Bun.spawnSync(["systemctl", verb], { env: binary.env, stdio: ["ignore", "ignore", "ignore"] });
    if (exitCode !== 0) throw new Error(`systemctl ${verb} failed`);
  };
  return {
    url: `http://127.0.0.1:${port}`,
    log: () => (existsSync(log) ? readFileSync(log, "utf8") : ""),
    start: () => control("start"),
    stop: () => control("stop"),
  };
}
