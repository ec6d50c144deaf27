import type { CommandTree } from "./walk-tree.ts";

/** All commands. Each is imported only when it is needed, so that starting stays fast. */
export const commandTree: CommandTree = {
  version: () => import("./commands/version.ts"),
  completion: () => import("./commands/completion.ts"),
};
