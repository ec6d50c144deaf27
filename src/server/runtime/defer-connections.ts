import { ptr } from "bun:ffi";
import { readdirSync } from "node:fs";
import { openLibc } from "./libc.ts";

const [solSocket, soAttachFilter, soAcceptConn] = [1, 26, 30];
const filter = Uint8Array.from([
  ...[0x30, 0, 0, 0, 13, 0, 0, 0], // load the byte with the flags
  ...[0x45, 0, 0, 1, 2, 0, 0, 0], // without SYN, skip the next instruction
  ...[0x06, 0, 0, 0, 0, 0, 0, 0], // drop the packet
  ...[0x06, 0, 0, 0, 255, 255, 255, 255], // let it pass
]);

/**
 * Makes Linux drop new connections to a port of this process; clients try again a second later. If the port were
 * closed instead, Linux would reset the connections that the process has not accepted yet.
 */
export function deferConnections(port: number): void {
  const libc = openLibc();
  if (libc === undefined) return;
  const { getsockopt, getsockname, setsockopt } = libc.symbols;
  const program = BigUint64Array.of(BigInt(filter.length / 8), BigInt(ptr(filter)));
  const isListening = new Int32Array(1);
  const address = Buffer.alloc(128);
  for (const fd of readdirSync("/proc/self/fd").map(Number)) {
    const isKnown = getsockopt(fd, solSocket, soAcceptConn, isListening, Uint32Array.of(isListening.byteLength)) === 0;
    if (!isKnown || isListening[0] !== 1) continue;
    getsockname(fd, address, Uint32Array.of(address.length));
    if (address.readUInt16BE(2) === port) setsockopt(fd, solSocket, soAttachFilter, program, program.byteLength);
  }
}
