import { commandTree } from "../src/cli/commands/command-tree.ts";
import { renderReference } from "./reference.ts";

await Bun.write(new URL("../docs/CLI.md", import.meta.url), await renderReference(commandTree));
