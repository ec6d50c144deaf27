import type { CommandTree } from "../framework/command-tree.ts";
import { renderBashCompletion } from "./completion-bash.ts";
import { renderFishCompletion } from "./completion-fish.ts";
import { collectWords } from "./completion-words.ts";
import { renderZshCompletion } from "./completion-zsh.ts";

const renderers = { bash: renderBashCompletion, zsh: renderZshCompletion, fish: renderFishCompletion };

/** The completion script of a shell: commands, flags and their fixed values, all written into it. */
export async function renderCompletion(tree: CommandTree, shell: keyof typeof renderers): Promise<string> {
  return renderers[shell](await collectWords(tree));
}
