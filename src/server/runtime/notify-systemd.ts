import type { Environment } from "../config/environment.ts";
import { openLibc } from "./libc.ts";

const [afUnix, sockDgramCloexec, msgDontwaitNosignal] = [1, 0o2000002, 0x4040];

/**
 * Tells systemd that the server is ready, and then twice in each watchdog interval that it is alive (sd_notify).
 * Without systemd, does nothing. Returns a function that ends these messages and sends a last one.
 */
export function notifySystemd({ NOTIFY_SOCKET: path, WATCHDOG_USEC: interval }: Environment) {
  const libc = path === undefined ? undefined : openLibc();
  if (path === undefined || libc === undefined) return (_last: string) => {};
  const { socket, sendto, close } = libc.symbols;
  const address = Buffer.concat([new Uint8Array(Uint16Array.of(afUnix).buffer), Buffer.from(path.replace(/^@/, "\0"))]);
  const send = (state: string) => {
    const fd = socket(afUnix, sockDgramCloexec, 0);
    const bytes = Buffer.from(state);
    sendto(fd, bytes, bytes.length, msgDontwaitNosignal, address, address.length);
    close(fd);
  };
  // The previous server has turned the watchdog off, because a migration may take long. This turns it on again.
  send(interval === undefined ? "READY=1" : `READY=1\nWATCHDOG_USEC=${interval}`);
  const everyMs = Number(interval ?? 0) / 2000;
  const timer = everyMs > 0 ? setInterval(() => send("WATCHDOG=1"), everyMs) : undefined;
  return (last: string) => {
    clearInterval(timer);
    send(last);
  };
}
