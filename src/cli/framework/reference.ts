import { type Arg, flagsOf, positionalsOf, sharedArgs } from "./args.ts";
import type { Command } from "./command.ts";
import { type CommandTree, listPaths, loadCommand } from "./command-tree.ts";
import { describeUsage, exitCodes, explainArg, labelArg, ownFlags } from "./describe.ts";

const introduction = `# Terminal reference

<!-- Written by \`bun scripts/write-reference.ts\` from the definitions of the commands; a test keeps it true. -->

\`bodega <command> <subcommand>\` administers what \`bodega serve\` serves, with the server running or not. A change takes effect on
the server's next request. A command on a new data directory makes the database first.

- Standard output carries the answer only; questions, remarks and warnings go to standard error.
- With \`--json\` the answer is exactly one JSON value, on one line unless it goes to a terminal, and an error is one JSON
  object on standard error: \`{"error": {"code", "message", "remedy"?, "details"?: [{"field", "flag"?, "message"}]}}\`.
  Codes are those of the HTTP API; 5100 is a command line that is wrong.
- Flags may stand anywhere after the command, and those of every command before it too. \`--name value\`, \`--name=value\`,
  \`-n value\` and \`-nvalue\` are the same; \`--\` ends the flags. What is unknown, repeated or incomplete is an error, and
  nothing is done.
- At a terminal, what is missing is asked for. Elsewhere, and with \`--no-input\`, it is an error that names the flag.
- What is dangerous asks first (\`--yes\` answers); what cannot be undone wants the name again (\`--confirm <name>\`).
- Secrets are never arguments, which every user of a machine can read.
- Tables fit the terminal and cut what is too long with …; in a pipe nothing is cut. Control characters in data are
  written out (\`\\u001b\`), so that no text can act on the terminal.
`;

const variablesWithoutFlag: [name: string, text: string][] = [
  [
    "BODEGA_APNS_KEY",
    "What the `.p8` file of a key for Apple's push service holds; without it, nothing is sent to iOS",
  ],
  ["BODEGA_APNS_KEY_ID", "Id of that key; needed with it"],
  ["BODEGA_APNS_SANDBOX", "`1` for devices with an app under development"],
  ["BODEGA_APNS_TEAM_ID", "Id of the team that the key belongs to; needed with it"],
  ["BODEGA_APNS_TOPIC", "Bundle id of the app, such as `com.example.shop`; needed with the key"],
  ["BODEGA_DATABASE_AUTH_TOKEN", "Token for the database server"],
  [
    "BODEGA_FCM_CREDENTIALS",
    "JSON of a Google service account for Firebase Cloud Messaging; without it, nothing is sent to Android",
  ],
  ["BODEGA_MAIL_FROM", "Sender of all mail; needed with a mail server"],
  ["BODEGA_SMTP_URL", "Mail server, with user and password; without it, mail waits"],
  ["NO_COLOR", "Any value: print no colours"],
];

/** The whole reference as Markdown, written from the definitions; it is `docs/CLI.md`. */
export async function renderReference(tree: CommandTree): Promise<string> {
  const commands: [string[], Command][] = [];
  for (const path of listPaths(tree)) commands.push([path, (await loadCommand(tree, path)) as Command]);
  return [
    introduction,
    `## Exit codes\n\n${renderTable(
      ["code", "meaning"],
      exitCodes.map(([code, meaning]) => [String(code), meaning]),
    )}`,
    `## Flags of every command\n\n${renderArgs("flag", Object.entries(sharedArgs))}`,
    `## Environment\n\nFlags beat the environment, and that beats the file \`bodega.env\` in the data directory, which has lines such as \`BODEGA_PORT=8081\`. Each \`BODEGA_\` variable but \`BODEGA_NAMESPACE\` also has a form that ends in \`_FILE\` and names a file with the value.\n\n${renderVariables(commands)}`,
    ...commands.flatMap(([path, command], index) => {
      const heading = path[0] === commands[index - 1]?.[0][0] ? [] : renderHeading(tree, path[0] as string);
      return [...heading, renderCommand(path, command)];
    }),
  ].join("\n");
}

function renderHeading(tree: CommandTree, noun: string): string[] {
  const entry = tree[noun];
  return typeof entry === "object" ? [`## bodega ${noun}\n\n${entry.description}.\n`] : [];
}

function renderCommand(path: string[], command: Command): string {
  const level = path.length === 1 ? "##" : "###";
  const parts = [`${level} bodega ${path.join(" ")}\n`, `${command.meta.description}.\n`];
  parts.push(`\`\`\`\n${describeUsage(path, command)}\n\`\`\`\n`);
  const args = [...positionalsOf(command.args), ...ownFlags(command.args)];
  if (args.length > 0) parts.push(renderArgs("argument", args));
  for (const note of command.notes) parts.push(`${escapeMarkdown(note)}\n`);
  parts.push(`\`\`\`sh\n${command.examples.join("\n")}\n\`\`\`\n`);
  return parts.join("\n");
}

function renderArgs(title: string, args: [string, Arg][]): string {
  return renderTable(
    [title, ""],
    args.map(([name, arg]) => [`\`${labelArg(name, arg).replaceAll("|", "\\|")}\``, escapeMarkdown(explainArg(arg))]),
  );
}

function renderVariables(commands: [string[], Command][]): string {
  const rows = new Map(variablesWithoutFlag.map(([name, text]) => [name, text]));
  for (const [, command] of commands) {
    for (const [name, arg] of flagsOf(command.args)) {
      const variable = arg.env ?? arg.configEnv;
      if (variable !== undefined) rows.set(variable, `As \`--${name}\``);
    }
  }
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
  return renderTable(
    ["variable", ""],
    sorted.map(([name, text]) => [`\`${name}\``, text]),
  );
}

function renderTable(header: [string, string], rows: [string, string][]): string {
  return [header, ["---", "---"], ...rows].map((row) => `| ${row.join(" | ")} |\n`).join("");
}

/** Outside of code, `<namespace>` would be read as a tag. */
function escapeMarkdown(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "\\<").replaceAll("*", "\\*");
}
