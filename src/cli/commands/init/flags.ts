import type { Shop } from "../../../server/admin/create-shop.ts";
import type { ArgValues, CommandArgs, SharedValues } from "../../framework/args.ts";
import type { Console } from "../../terminal/console.ts";
import { UsageError } from "../../terminal/usage-error.ts";
import { checkKeyFlags, keyFlags } from "./key.ts";
import { lacksSender, mailFlags } from "./mail.ts";
import { checkOwnerFlags, missingOwnerFlags, ownerFlags } from "./owner.ts";
import { runFlags } from "./run-mode.ts";
import { checkStoreFlags, storeFlags } from "./store.ts";

/** Every answer of the conversation as a flag. */
export const initFlags = {
  ...storeFlags,
  ...ownerFlags,
  ...keyFlags,
  ...mailFlags,
  ...runFlags,
} as const satisfies CommandArgs;

export type InitArgs = ArgValues<typeof initFlags> & SharedValues;

// Of each group, at most one flag can be given.
const exclusive: readonly (readonly string[])[] = [
  ["--owner-password-stdin", "--owner-random-password"],
  ["--owner-password-stdin", "--owner-password-file"],
  ["--no-owner", "--owner-email"],
  ["--no-origins", "--origin"],
  ["--no-mail", "--smtp-url-file"],
  ["--systemd", "--print-unit", "--print-compose", "--serve"],
];

/**
 * Refuses values that no service accepts and flags that exclude each other, before anything is asked.
 * @throws validationFailed naming the field, UsageError naming the flags.
 */
export function checkFlags(args: InitArgs): void {
  checkStoreFlags(args);
  checkOwnerFlags(args);
  checkKeyFlags(args);
  for (const group of exclusive) {
    const given = group.filter((flag) => isGiven(args, flag));
    if (given.length > 1) throw new UsageError(`${given.join(" and ")} cannot be used together.`);
  }
  if (args["unit-dir"] !== undefined && !args.systemd) throw new UsageError("--unit-dir requires --systemd.");
}

function isGiven(args: InitArgs, flag: string): boolean {
  const value = args[flag.replace(/^--(no-)?/, "") as keyof InitArgs];
  if (flag.startsWith("--no-")) return value === false;
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}

const alternatives: Record<string, string> = {
  "owner-email": " (or --no-owner)",
  "owner-password-stdin": " (or --owner-random-password)",
};

/**
 * Without a terminal, refuses to continue without the required flags.
 * @param namespace undefined when the flags leave it open.
 * @throws UsageError
 */
export function requireFlags(args: InitArgs, console: Console, namespace: string | undefined, shop: Shop): void {
  const hasTitle = args.title !== undefined;
  const missing: (keyof typeof initFlags)[] = [];
  if (namespace === undefined) missing.push(hasTitle ? "namespace" : "title");
  if (shop.owner === null && args.owner) missing.push(...missingOwnerFlags(args));
  if (lacksSender(args, console)) missing.push("mail-from");
  if (missing.length === 0) return;
  const names = missing.map((name) => `--${name}${alternatives[name] ?? ""}`);
  const isUnfit = namespace === undefined && hasTitle;
  throw new UsageError(`Missing ${names.join(", ")}.`, {
    ...(isUnfit && { hint: "No namespace can be made from --title: it has none of a-z and 0-9." }),
    details: missing.map((name) => ({ field: `--${name}`, message: `is required: ${initFlags[name].description}` })),
  });
}
