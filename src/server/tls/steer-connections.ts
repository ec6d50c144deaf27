import { readdir, readFile, readlink } from "node:fs/promises";

const solSocket = 1;
const attachReusePortCbpf = 51;
/** `ret #k` of classic BPF: the program that always gives one number. */
const returnConstant = 0x06;
const libraries = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

/**
 * Has Linux give new connections of a port that several sockets listen on to the one that began to listen as the
 * `index`th, counted from 0; while there are no more than `index`, they are spread as ever. So a socket that leaves has
 * nothing waiting that would be cut with it, not even half-open.
 * @returns whether it could be done; other systems have no such thing.
 */
export async function steerConnections(port: number, index: number): Promise<boolean> {
  if (process.platform !== "linux") return false;
  try {
    const [socket] = await findListeners(port);
    if (socket === undefined) return false;
    const { dlopen, ptr } = await import("bun:ffi");
    for (const library of libraries) {
      const setsockopt = open(dlopen, library);
      if (!setsockopt) continue;
      // struct sock_fprog: how many instructions, and where they stand, which is behind it in the same memory.
      const program = new DataView(new ArrayBuffer(16 + 8));
      program.setUint16(0, 1, true);
      program.setBigUint64(8, BigInt(ptr(program) + 16), true);
      program.setUint16(16, returnConstant, true);
      program.setUint32(20, index, true);
      return setsockopt(socket, solSocket, attachReusePortCbpf, ptr(program), 16) === 0;
    }
  } catch {
    // Where /proc or foreign functions are closed, certificates are exchanged without this.
  }
  return false;
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
