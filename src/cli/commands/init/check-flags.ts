import type { Shop } from "../../../server/admin/create-shop.ts";
import { readVariable } from "../../../server/config/environment.ts";
import { parseOriginPattern } from "../../../server/modules/app-keys/origin-pattern.ts";
import { requireStrongPassword } from "../../../server/modules/passwords/password-policy.ts";
import { parseCurrency } from "../../../server/modules/tenants/currency.ts";
import { checkFields } from "../../../server/modules/tenants/input.ts";
import { parseNamespace } from "../../../server/modules/tenants/namespace.ts";
import { userColumns } from "../../../server/modules/users/input.ts";
import { UsageError } from "../../framework/usage-error.ts";
import type { Console } from "../../terminal/console.ts";
import { type InitArgs, initFlags, wantsRandomPassword } from "./flags.ts";
import { checkKeyName } from "./key-answers.ts";

/**
 * Refuses answers that no service would take, and answers that exclude each other, before anything is asked.
 * @throws validationFailed naming the field, UsageError naming the flags.
 */
export function checkFlags(args: InitArgs): void {
  if (args.namespace !== undefined) parseNamespace(args.namespace);
  if (args.currency !== undefined) parseCurrency(args.currency);
  checkFields({ title: args.title, language: args.language });
  const { "owner-email": email, "owner-name": name, "key-name": keyName } = args;
  userColumns({ ...(email !== undefined && { email }), ...(name !== undefined && { name }) });
  if (keyName !== undefined) checkKeyName(keyName);
  for (const origin of args.origin) parseOriginPattern(origin);
  refuseTogether({
    "--owner-password-stdin": args["owner-password-stdin"],
    "--owner-random-password": args["owner-random-password"],
  });
  // There is no other password that it could take.
  refuseTogether({
    "--owner-password-stdin": args["owner-password-stdin"],
    "--owner-password-file": args["owner-password-file"] !== undefined,
  });
  refuseTogether({ "--no-owner": !args.owner, "--owner-email": email !== undefined });
  refuseTogether({ "--no-origins": !args.origins, "--origin": args.origin.length > 0 });
  refuseTogether({ "--no-mail": !args.mail, "--smtp-url-file": args["smtp-url-file"] !== undefined });
  const { systemd, serve } = args;
  refuseTogether({
    "--systemd": systemd,
    "--print-unit": args["print-unit"],
    "--print-compose": args["print-compose"],
    "--serve": serve === true,
  });
  needsOther("--unit-dir", args["unit-dir"], "--systemd", systemd);
}

/** The rule for the owner's password, for one that was not typed at a prompt. */
export function checkPassword(password: string): void {
  requireStrongPassword("password", password);
}

/**
 * One error for every answer that is missing where nobody can be asked.
 * @param namespace undefined where the flags leave it open.
 * @throws UsageError
 */
export function requireFlags(args: InitArgs, console: Console, namespace: string | undefined, shop: Shop): void {
  const missing: string[] = [];
  if (namespace === undefined) missing.push(args.title === undefined ? "--title" : "--namespace");
  if (shop.owner === null && args.owner) {
    if (args["owner-email"] === undefined) missing.push("--owner-email");
    if (!args["owner-password-stdin"] && !wantsRandomPassword(args)) missing.push("--owner-password-stdin");
  }
  const hasSender = args["mail-from"] !== undefined || readVariable(console.env, "BODEGA_MAIL_FROM") !== undefined;
  if (args["smtp-url-file"] !== undefined && !hasSender) missing.push("--mail-from");
  if (missing.length === 0) return;
  const isUnfit = namespace === undefined && args.title !== undefined;
  const hints: Record<string, string> = {
    "--owner-email": "or --no-owner",
    "--owner-password-stdin": "or --owner-random-password",
  };
  const named = missing.map((flag) => (hints[flag] === undefined ? flag : `${flag} (${hints[flag]})`));
  throw new UsageError(`Missing ${named.join(", ")}.`, {
    ...(isUnfit && { hint: "No namespace could be made from --title, which has no letter of a to z and no digit." }),
    details: missing.map((flag) => ({ field: flag, message: `is required: ${describe(flag)}` })),
  });
}

function describe(flag: string): string {
  return initFlags[flag.slice(2) as keyof typeof initFlags].description;
}

function refuseTogether(flags: Record<string, boolean>): void {
  const given = Object.keys(flags).filter((flag) => flags[flag]);
  if (given.length > 1) throw new UsageError(`${given.join(" and ")} do not go together.`);
}

function needsOther(flag: string, value: string | undefined, other: string, isGiven: boolean): void {
  if (value !== undefined && !isGiven) throw new UsageError(`${flag} goes with ${other} only.`);
}
