import { dlopen } from "bun:ffi";
import { attempt } from "../values/attempt.ts";

/** Returns functions of the C library that Bun does not offer; undefined if the system is not Linux. */
export function openLibc() {
  if (process.platform !== "linux") return undefined;
  const functions = {
    getsockopt: { args: ["i32", "i32", "i32", "ptr", "ptr"], returns: "i32" },
    getsockname: { args: ["i32", "ptr", "ptr"], returns: "i32" },
    setsockopt: { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" },
    socket: { args: ["i32", "i32", "i32"], returns: "i32" },
    sendto: { args: ["i32", "ptr", "u64", "i32", "ptr", "u32"], returns: "i64" },
    close: { args: ["i32"], returns: "i32" },
  } as const;
  const musl = `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`;
  return attempt(() => dlopen("libc.so.6", functions)) ?? attempt(() => dlopen(musl, functions));
}
