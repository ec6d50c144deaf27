import { defineCommand } from "../framework/command.ts";
import { printJson } from "../terminal/output.ts";

export default defineCommand({
  name: "completion",
  description: "Print a completion script for a shell",
  args: {
    shell: {
      type: "positional",
      required: true,
      options: ["bash", "zsh", "fish"],
      description: "Shell to complete in",
    },
  },
  examples: [
    "bodega completion bash > ~/.local/share/bash-completion/completions/bodega",
    "bodega completion zsh > ~/.zfunc/_bodega",
    "bodega completion fish > ~/.config/fish/completions/bodega.fish",
  ],
  async run({ shell }, console) {
    const { completionScripts } = await import("../completion/scripts.ts");
    const script = completionScripts[shell];
    if (console.json) await printJson(console, { shell, script });
    else await console.write(script);
  },
});
