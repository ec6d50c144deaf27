import type { Console } from "./console.ts";

/** Opens an address or a file in the browser of the desktop. Without a desktop, it does nothing. */
export function openBrowser(url: string, env: Console["env"]): void {
  const program = process.platform === "darwin" ? "open" : (env.DISPLAY || env.WAYLAND_DISPLAY) && "xdg-open";
  const path = program && Bun.which(program, { PATH: env.PATH ?? "" });
  // The browser gets a process group of its own, so that Ctrl-C does not end it.
  if (path) Bun.spawn([path, url], { env, stdio: ["ignore", "ignore", "ignore"], detached: true }).unref();
}
