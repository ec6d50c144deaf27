import { parseDuration, parseWhole } from "./parse-values.ts";

export type NameKind = "namespace" | "key" | "user" | "order" | "product" | "category" | "webhook" | "scope" | "event";

/** An argument of a command: a flag with a value, a switch, or a positional word. `CommandArgs` has them by name. */
export interface Arg {
  type: "string" | "boolean" | "positional";
  description: string;
  alias?: string;
  /** The placeholder of the value in help: `--title <text>`. */
  valueHint?: string;
  options?: readonly string[];
  completes?: "file" | "directory" | NameKind;
  required?: boolean;
  /** A flag with `multiple` can be repeated. A positional word with `multiple` takes all further words. */
  multiple?: boolean;
  default?: string;
  /** Accepts `--name=` with an empty value. The command receives null, and clears the field. */
  allowEmpty?: boolean;
  /** The environment variable that gives the value if the flag is missing. The help names it. */
  env?: string;
  /** The name that errors of services have for this argument. Default: the name of the argument. */
  field?: string;
  /** The flag that can be given instead of this argument. */
  fallback?: string;
  /** Parses a text, or each text of a list, for `run`. Throws AppError, which names the flag. */
  parse?: (flag: string, text: string) => unknown;
}

export type CommandArgs = Record<string, Arg>;

/** The values of a command line before `parse`. */
export type GivenValues = Record<string, string | boolean | string[] | undefined>;

type ArgValue<A> = A extends { type: "boolean" }
  ? boolean
  : A extends { multiple: true }
    ? TextValue<A>[]
    : A extends { required: true } | { default: string }
      ? TextValue<A>
      : TextValue<A> | undefined;

type TextValue<A> = A extends { parse: (flag: string, text: string) => infer Value }
  ? Value
  : A extends { options: infer O extends readonly string[] }
    ? O[number]
    : A extends { allowEmpty: true }
      ? string | null
      : string;

/** The values that a command's `run` receives. A switch is a boolean, and a list is an array, which may be empty. */
export type ArgValues<T extends CommandArgs> = { [K in keyof T]: ArgValue<T[K]> };

export const sharedArgs = {
  json: { type: "boolean", description: "Print one JSON value on standard output; errors are JSON too" },
  quiet: { type: "boolean", alias: "q", description: "Print only ids, and no messages" },
  yes: { type: "boolean", alias: "y", description: "Answer yes to confirmation questions" },
  "no-input": { type: "boolean", description: "Ask no questions, even at a terminal" },
  "no-color": { type: "boolean", description: "Print without colours (also when NO_COLOR is set)" },
  "data-dir": valueArg("dir", "Data directory (default: bodega-data)", {
    env: "BODEGA_DATA_DIR",
    completes: "directory",
  }),
  "database-url": valueArg("url", "Address of a libSQL server to use instead of a database file", {
    env: "BODEGA_DATABASE_URL",
  }),
  help: { type: "boolean", alias: "h", description: "Show this help" },
} as const satisfies CommandArgs;

export type SharedValues = ArgValues<typeof sharedArgs>;

type More = Omit<Partial<Arg>, "type" | "description">;
type ValueArg = { readonly type: "string"; readonly valueHint: string; readonly description: string };

// Without NoInfer, TypeScript would infer M from the type that the caller expects instead of from `more`.
export function valueArg<const M extends More>(valueHint: string, description: string, more?: M) {
  return { type: "string", valueHint, description, ...more } as ValueArg & NoInfer<M>;
}

export function wordArg<const M extends More>(description: string, more?: M) {
  return { type: "positional", required: true, description, ...(more as M) } as const;
}

export function durationArg(description: string) {
  return valueArg("duration", description, { parse: parseDuration });
}

export function numberArg(noun: string, description: string) {
  return valueArg("number", description, { parse: (flag: string, text: string) => parseWhole(flag, text, noun) });
}

export function choiceArg<const O extends readonly string[]>(options: O, description: string) {
  return { type: "string", options, description } as const;
}

export function fileArg<const M extends More>(description: string, more?: M) {
  return { type: "string", valueHint: "file", description, completes: "file", ...(more as M) } as const;
}

export const namespaceArg = valueArg("namespace", "Namespace of the store", {
  alias: "n",
  env: "BODEGA_NAMESPACE",
  completes: "namespace",
});

export const requiredNamespaceArg = { ...namespaceArg, required: true } as const;

/** Flags that can be given before the command: the shared ones and the namespace. */
export const leadingArgs: CommandArgs = { ...sharedArgs, namespace: namespaceArg };

export function formatArg(name: string, arg: Arg): string {
  if (arg.type !== "positional") return `--${name}`;
  return `<${arg.valueHint ?? name}${arg.multiple ? "..." : ""}>`;
}

export function flagsOf(args: CommandArgs): [string, Arg][] {
  return Object.entries(args).filter(([, { type }]) => type !== "positional");
}

export function positionalsOf(args: CommandArgs): [string, Arg][] {
  return Object.entries(args).filter(([, { type }]) => type === "positional");
}
