import { readdir, readFile, readlink } from "node:fs/promises";

const solSocket = 1;
const attachReusePortCbpf = 51;
/** An instruction of classic BPF: what to do, and with which number. */
type Instruction = readonly [code: number, k: number];
const loadRandom: Instruction = [0x20, 0xfffff038];
const modulo = (k: number): Instruction => [0x94, k];
const add = (k: number): Instruction => [0x04, k];
const giveResult: Instruction = [0x16, 0];

const libraries = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

/**
 * Has Linux give new connections of a port that several sockets listen on to the `count` of them that began to listen as the
 * `first`th and next, counted from 0; whatever would go to one that is not there is spread over all, as ever. So a socket
 * that leaves has nothing waiting that would be cut with it, not even half-open.
 * @returns whether it could be done; other systems have no such thing.
 */
export async function steerConnections(port: number, first: number, count: number): Promise<boolean> {
  if (process.platform !== "linux") return false;
  try {
    const sockets = await findListeners(port);
    if (sockets.length === 0) return false;
    const { dlopen, ptr } = await import("bun:ffi");
    for (const library of libraries) {
      const setsockopt = open(dlopen, library);
      if (!setsockopt) continue;
      const program = assemble([loadRandom, modulo(count), add(first), giveResult], ptr);
      const attach = (socket: number) => setsockopt(socket, solSocket, attachReusePortCbpf, ptr(program), 16) === 0;
      // One of them speaks for all that share the port; those of other addresses with the same port take none.
      return sockets.map(attach).includes(true);
    }
  } catch {
    // Where /proc or foreign functions are closed, certificates are exchanged without this.
  }
  return false;
}

/** A `struct sock_fprog`: how many instructions, and where they stand, which is behind it in the same memory. */
function assemble(instructions: readonly Instruction[], ptr: typeof import("bun:ffi").ptr): DataView {
  const view = new DataView(new ArrayBuffer(16 + 8 * instructions.length));
  view.setUint16(0, instructions.length, true);
  view.setBigUint64(8, BigInt(ptr(view) + 16), true);
  for (const [index, [code, k]] of instructions.entries()) {
    view.setUint16(16 + 8 * index, code, true);
    view.setUint32(20 + 8 * index, k, true);
  }
  return view;
}

function open(dlopen: typeof import("bun:ffi").dlopen, library: string) {
  try {
    const { symbols } = dlopen(library, {
      setsockopt: { args: ["int", "int", "int", "ptr", "u32"], returns: "int" },
    });
    return symbols.setsockopt;
  } catch {
    return null;
  }
}

/** File descriptors of this process's sockets that listen on a TCP port. */
async function findListeners(port: number): Promise<number[]> {
  const listening = "0A";
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((name) => readFile(`/proc/self/net/${name}`, "utf8").catch(() => "")),
  );
  const rows = tables.flatMap((table) => table.split("\n")).map((line) => line.trim().split(/\s+/));
  const inodes = rows.filter((row) => row[3] === listening && row[1]?.endsWith(suffix)).map((row) => row[9]);
  const targets = new Set(inodes.map((inode) => `socket:[${inode}]`));
  const found: number[] = [];
  for (const name of await readdir("/proc/self/fd")) {
    const target = await readlink(`/proc/self/fd/${name}`).catch(() => "");
    if (targets.has(target)) found.push(Number(name));
  }
  return found;
}
