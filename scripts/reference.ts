import { type Arg, flagsOf, positionalsOf, sharedArgs } from "../src/cli/framework/args.ts";
import type { Command, CommandGroup, Load } from "../src/cli/framework/command.ts";
import { describeUsage, exitCodes, explainArg, labelArg, ownFlags } from "../src/cli/framework/help.ts";

const introduction = `# Terminal reference

<!-- Written by \`bun scripts/write-reference.ts\` from the definitions of the commands; a test keeps it true. -->

\`bodega <command> <subcommand>\` manages the data that \`bodega serve\` serves, whether the server is running or not. A
change applies to the server's next request. \`tenant create\`, \`init\`, \`serve\` and \`demo\` create a new database.

- Standard output has only the result; questions, notes and warnings go to standard error.
- With \`--json\` the result is exactly one JSON value, indented only at a terminal. An error is one JSON object on standard
  error: \`{"error": {"code", "type", "message", "remedy"?, "details"?: [{"field", "flag"?, "message"}]}}\`. Codes are those of the
  HTTP API; 5100 is an invalid command line.
- Flags can be anywhere after the command; the flags of every command can also be before it. \`--name value\`,
  \`--name=value\`, \`-n value\` and \`-nvalue\` are the same; \`--\` ends the flags. An unknown, repeated or incomplete
  flag is an error, and nothing is changed.
- At a terminal, commands ask for missing arguments. Elsewhere, and with \`--no-input\`, a missing argument is an error.
- Dangerous commands ask for confirmation, or need \`--yes\`. Commands that delete ask for the name, or need
  \`--confirm <name>\`.
- Secrets are never arguments, because every user of a machine can read the arguments of commands.
- Tables fit the terminal: long texts are cut with …, and hidden columns are named. In a pipe nothing is cut. Times in
  tables are relative; JSON has them in RFC 3339. Control characters in data are escaped (\`\\u001b\`).
`;

const variablesWithoutFlag: [name: string, text: string][] = [
  ["BODEGA_APNS_KEY", "Content of the `.p8` key file for Apple's push service; without it, nothing is sent to iOS"],
  ["BODEGA_APNS_KEY_ID", "Id of that key; required with it"],
  ["BODEGA_APNS_SANDBOX", "`1` to send to apps under development"],
  ["BODEGA_APNS_TEAM_ID", "Id of the team that owns the key; required with it"],
  ["BODEGA_APNS_TOPIC", "Bundle id of the app, such as `com.example.shop`; required with the key"],
  ["BODEGA_DATABASE_AUTH_TOKEN", "Token for the database server"],
  [
    "BODEGA_FCM_CREDENTIALS",
    "JSON of a Google service account for Firebase Cloud Messaging; without it, nothing is sent to Android",
  ],
  ["BODEGA_MAIL_FROM", "Sender of all mail; required with a mail server"],
  ["BODEGA_MEDIA", "Where new pictures are stored: `database` (default), or `s3://bucket/prefix`"],
  ["BODEGA_METRICS_TOKEN", "Token that gives access to `/metrics`; without it, they are not served"],
  ["BODEGA_S3_ACCESS_KEY_ID", "Access key for backups and pictures in S3"],
  ["BODEGA_S3_ENDPOINT", "Endpoint of an S3 store that is not Amazon's"],
  ["BODEGA_S3_REGION", "Region of the bucket"],
  ["BODEGA_S3_SECRET_ACCESS_KEY", "Secret of that access key"],
  ["BODEGA_SECRET", "Secret key (default: `secret.key` in the data directory)"],
  ["BODEGA_STRIPE_URL", "Where the server calls Stripe: a stand-in, for tests; `https://api.stripe.com` (default)"],
  ["BODEGA_SMTP_URL", "Mail server, with user and password; without it, mail stays queued"],
  ["BUN_TMPDIR", "Directory in which to unpack the database engine; must allow executables"],
  ["NODE_EXTRA_CA_CERTS", "File with further certificate authorities (PEM) for outgoing connections"],
  ["NO_COLOR", "Any value: print without colours"],
];

export function listCommands({ subCommands }: CommandGroup): [path: string[], load: Load][] {
  return Object.entries(subCommands).flatMap(([name, sub]): [string[], Load][] =>
    typeof sub === "function" ? [[[name], sub]] : listCommands(sub).map(([path, load]) => [[name, ...path], load]),
  );
}

/** Returns the content of `docs/CLI.md`, generated from the definitions of the commands. */
export async function renderReference(tree: CommandGroup): Promise<string> {
  const commands: [string[], Command][] = [];
  for (const [path, load] of listCommands(tree)) commands.push([path, await load()]);
  return [
    introduction,
    `## Exit codes\n\n${renderTable(["code", "meaning"], exitCodes)}`,
    `## Flags of every command\n\n${renderArgs("flag", Object.entries(sharedArgs))}`,
    `## Environment\n\nFlags take precedence over the environment, and the environment over the file \`bodega.env\` in the data directory, which has lines such as \`BODEGA_PORT=8081\`. To read a value from a file, append \`_FILE\` to the variable's name and set it to the path (not for \`BODEGA_NAMESPACE\`, \`BUN_TMPDIR\`, \`NO_COLOR\` and \`NODE_EXTRA_CA_CERTS\`).\n\n${renderVariables(commands)}`,
    ...commands.flatMap(([path, command], index) => {
      const heading = path[0] === commands[index - 1]?.[0][0] ? [] : renderHeading(tree, path[0] as string);
      return [...heading, renderCommand(path, command)];
    }),
  ].join("\n");
}

function renderHeading(tree: CommandGroup, group: string): string[] {
  const entry = tree.subCommands[group];
  return typeof entry === "object" ? [`## bodega ${group}\n\n${entry.meta.description}.\n`] : [];
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
    args.map(([name, arg]) => [
      `\`${labelArg(name, arg).trim().replaceAll("|", "\\|")}\``,
      escapeMarkdown(explainArg(arg)),
    ]),
  );
}

function renderVariables(commands: [string[], Command][]): string {
  const rows = new Map(variablesWithoutFlag.map(([name, text]) => [name, text]));
  const flags = new Map<string, Set<string>>();
  for (const [, command] of commands) {
    for (const [name, { env }] of flagsOf(command.args)) {
      if (env !== undefined) flags.set(env, (flags.get(env) ?? new Set()).add(`\`--${name}\``));
    }
  }
  for (const [variable, names] of flags) rows.set(variable, `As ${[...names].join(" or ")}`);
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
  return renderTable(
    ["variable", ""],
    sorted.map(([name, text]) => [`\`${name}\``, text]),
  );
}

function renderTable(header: [string, string], rows: [string, string][]): string {
  return [header, ["---", "---"], ...rows].map((row) => `| ${row.join(" | ")} |\n`).join("");
}

/** Escapes a text for Markdown, where `<namespace>` would be an HTML tag. */
function escapeMarkdown(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "\\<").replaceAll("*", "\\*");
}
