/** Kinds of names that a shell asks the database for. */
export const nameKinds = ["namespace", "key", "user", "order", "product", "webhook", "scope", "event"] as const;
export type NameKind = (typeof nameKinds)[number];

/** A flag with a value, or a switch. Its key in the definition is its long name, written with hyphens. */
export interface FlagArg {
  type: "string" | "enum" | "boolean";
  description: string;
  /** One character. */
  alias?: string;
  /** How the value is called in help: `--title <text>`. */
  valueHint?: string;
  options?: readonly string[];
  /** `true` on a switch makes it one that is on until `--no-<name>` turns it off. */
  default?: string | boolean;
  /** A switch that `--no-<name>` answers with no, which is another answer than none. */
  negatable?: boolean;
  /** Missing, it is asked for at a terminal, and exit code 2 elsewhere. */
  required?: boolean;
  /** May be given several times; the value is then a list. */
  multiple?: boolean;
  /** `--name=` is a value, not a mistake. */
  allowEmpty?: boolean;
  /** Environment variable that stands in for the flag. */
  env?: string;
  /** The same, but for a variable that the configuration reads itself. */
  configEnv?: string;
  /** The service's name of the field, where it is not the flag's name. */
  field?: string;
  /** What a shell offers for the value. */
  completes?: "file" | "directory" | NameKind;
}

/** A value known by its place. */
export interface PositionalArg {
  type: "positional";
  description: string;
  /** How help calls it, where that is not the definition's name: a flag may have that name already. */
  label?: string;
  required: boolean;
  /** The only values that it takes. */
  options?: readonly string[];
  /** Takes all that is left; the value is then a list. Only the last positional can. */
  variadic?: boolean;
  /** Name of the flag that may be given in its stead. */
  fallback?: string;
  /** What a shell offers for it. */
  completes?: "file" | "directory" | NameKind;
  field?: string;
}

export type Arg = FlagArg | PositionalArg;

/** The arguments of a command by name; positionals in the order of their places. */
export type CommandArgs = Record<string, Arg>;

type ArgValue<A> = A extends { type: "boolean" }
  ? A extends { negatable: true }
    ? boolean | undefined
    : boolean
  : A extends { multiple: true } | { variadic: true }
    ? string[]
    : A extends { options: infer O extends readonly string[] }
      ? A extends { required: true } | { default: string }
        ? O[number]
        : O[number] | undefined
      : A extends { required: true } | { default: string }
        ? string
        : string | undefined;

/** What a command's `run` receives: a switch is a boolean, a list is an array (empty when not given). */
export type ArgValues<T extends CommandArgs> = { [K in keyof T]: ArgValue<T[K]> };

/** The flags that every command takes. */
export const sharedArgs = {
  json: { type: "boolean", description: "Print one JSON value on standard output; errors are JSON too" },
  quiet: { type: "boolean", alias: "q", description: "Print ids only, and no remarks" },
  yes: { type: "boolean", alias: "y", description: "Answer yes to what a dangerous command asks" },
  input: { type: "boolean", default: true, description: "Ask nothing, even at a terminal" },
  color: { type: "boolean", default: true, description: "Print no colours (also when NO_COLOR is set)" },
  "data-dir": {
    type: "string",
    valueHint: "dir",
    configEnv: "BODEGA_DATA_DIR",
    completes: "directory",
    description: "Folder of the database (default: bodega-data)",
  },
  "database-url": {
    type: "string",
    valueHint: "url",
    configEnv: "BODEGA_DATABASE_URL",
    description: "Database server to use instead of a file",
  },
  help: { type: "boolean", alias: "h", description: "Show this help" },
} as const satisfies CommandArgs;

export type SharedValues = ArgValues<typeof sharedArgs>;

/** `-n/--namespace`, for commands that work within one tenant. */
export const namespaceArg = {
  type: "string",
  alias: "n",
  valueHint: "namespace",
  env: "BODEGA_NAMESPACE",
  completes: "namespace",
  description: "Namespace of the store",
} as const satisfies FlagArg;

/** Flags that may stand before the command: those of every command, and the tenant's. */
export const leadingArgs: Record<string, FlagArg> = { ...sharedArgs, namespace: namespaceArg };

/** The flag of that name, as it is typed: `--json`, `--no-input`. */
export function formatFlag(name: string, arg: FlagArg): string {
  return arg.type === "boolean" && arg.default === true ? `--no-${name}` : `--${name}`;
}

/** The argument as a person types it: `--name`, `<app_id>`, `<origin...>`. */
export function formatArg(name: string, arg: Arg): string {
  if (arg.type !== "positional") return formatFlag(name, arg);
  return `<${arg.label ?? name}${arg.variadic ? "..." : ""}>`;
}

/** The flags of a definition, without its positionals. */
export function flagsOf(args: CommandArgs): [string, FlagArg][] {
  return Object.entries(args).filter((entry): entry is [string, FlagArg] => entry[1].type !== "positional");
}

/** The positionals of a definition, in their order. */
export function positionalsOf(args: CommandArgs): [string, PositionalArg][] {
  return Object.entries(args).filter((entry): entry is [string, PositionalArg] => entry[1].type === "positional");
}
