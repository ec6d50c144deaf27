import { tmpdir } from "node:os";

/** The words that run a command with private mounts; undefined if this account may not create mounts. */
export const ownMounts = [
  ["unshare", "--user", "--map-root-user", "--mount"],
  ["unshare", "--mount"],
].find((prefix) => {
  if (process.platform !== "linux" || !Bun.which("unshare")) return false;
  return Bun.spawnSync([...prefix, "mount", "-t", "tmpfs", "none", tmpdir()]).exitCode === 0;
});
