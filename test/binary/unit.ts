import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Binary } from "../support/binary.ts";
import { findPort } from "../support/port.ts";

/**
 * A replacement for `systemctl` in the PATH of an executable, because machines with tests may not run systemd. It
 * starts and stops one server.
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
runs() { [ -s ${pid} ] && grep -qs '^State:.*[RSDT]' "/proc/$(cat ${pid})/status"; }
case $1 in
show) if runs; then cat ${pid}; else echo 0; fi ;;
start)
  runs && exit 0
  setsid ${binary.path} serve --data-dir ${join(binary.dir, "bodega-data")} --port ${port} > ${log} 2>&1 < /dev/null &
  echo $! > ${pid} ;;
stop)
  [ -z "$STOP_REFUSED" ] || { echo "Access denied" >&2; exit 1; }
  runs && kill "$(cat ${pid})"
  while runs; do sleep 0.02; done ;;
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
