import bash from "../completion/bash.txt" with { type: "text" };
import fish from "../completion/fish.txt" with { type: "text" };
import zsh from "../completion/zsh.txt" with { type: "text" };
import { wordArg } from "../framework/args.ts";
import { defineCommand } from "../framework/command.ts";
import { printJson } from "../terminal/console.ts";

export default defineCommand({
  description: "Print a completion script for a shell",
  args: {
    shell: wordArg("Shell that runs the script", { options: ["bash", "zsh", "fish"] }),
  },
  examples: [
    "bodega completion bash > ~/.local/share/bash-completion/completions/bodega",
    "bodega completion zsh > ~/.zfunc/_bodega",
    "bodega completion fish > ~/.config/fish/completions/bodega.fish",
  ],
  async run({ shell }, console) {
    const script = { bash, zsh, fish }[shell];
    if (console.json) await printJson(console, { shell, script });
    else await console.write(script);
  },
});
