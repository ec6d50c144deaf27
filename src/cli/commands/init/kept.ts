import type { ShopSetup } from "../../../server/admin/create-shop.ts";
import type { EnvFileChange } from "../../../server/config/env-file.ts";
import { quoteWords } from "../../terminal/command-line.ts";
import type { InitArgs } from "./flags.ts";
import { wantsRandomPassword } from "./owner.ts";

/** The existing value, what the flags ask for, and the words of the command that changes it. */
type Difference = [subject: string, existing: string, wanted: string | undefined, ...change: string[]];

/**
 * One sentence for each flag whose value differs from the existing one, with the command that changes it.
 * @param command completes the words of a command line.
 */
export function listKept(
  args: InitArgs,
  setup: ShopSetup,
  settings: EnvFileChange,
  command: (words: string) => string,
): string[] {
  const { made: created } = setup;
  const differences = [
    ...(created.store ? [] : compareStore(args, setup.store)),
    ...(created.owner || setup.owner === null ? [] : compareOwner(args, setup.store.namespace, setup.owner)),
    ...(created.key || setup.key === null ? [] : compareKey(args, setup.key)),
  ];
  return [
    ...differences
      .filter(([, existing, wanted]) => wanted !== undefined && wanted !== existing)
      .map(([subject, existing, , ...change]) => {
        return `${subject} stays ${existing}; to change it: ${command(quoteWords(...change))}`;
      }),
    ...settings.kept.map((name) => `${name} stays as it is in ${settings.path}; to change it, edit that file`),
  ];
}

function compareStore(args: InitArgs, store: ShopSetup["store"]): Difference[] {
  const update = ["tenant", "update", store.namespace];
  const currency = args.currency?.toUpperCase();
  return [
    ["The store's name", store.title, args.title, ...update, "--title", args.title ?? ""],
    ["The currency", store.currency, currency, ...update, "--currency", currency ?? ""],
    ["The language", store.language, args.language, ...update, "--language", args.language ?? ""],
  ];
}

function compareOwner(args: InitArgs, namespace: string, owner: NonNullable<ShopSetup["owner"]>): Difference[] {
  const email = args["owner-email"]?.toLowerCase();
  const hasPassword = args["owner-password-stdin"] || wantsRandomPassword(args);
  const way = args["owner-password-stdin"] ? "--password-stdin" : "--random-password";
  const create = ["user", "create", "-n", namespace, "--role", "owner", "--email", email ?? ""];
  const setPassword = ["user", "set-password", "-n", namespace, owner.id, way];
  return [
    ["The owner", owner.email.toLowerCase(), email, ...create],
    ["The owner's password", "as it is", hasPassword ? "new" : undefined, ...setPassword],
  ];
}

function compareKey(args: InitArgs, key: NonNullable<ShopSetup["key"]>): Difference[] {
  const { app_id: id, name, published, origins } = key;
  const wanted = args.origin.toSorted();
  const describe = (isPublished: boolean) => (isPublished ? "published" : "unpublished");
  const publish = args.publish === undefined ? undefined : describe(args.publish);
  const secret = args["secret-file"] === undefined ? undefined : "new";
  return [
    ["The key's secret", "as it is", secret, "key", "rotate", id],
    ["The key's name", name, args["key-name"], "key", "update", id, "--name", args["key-name"] ?? ""],
    ["The key", describe(published), publish, "key", args.publish ? "publish" : "unpublish", id],
    [
      "The key's origin list",
      origins.join(" ") || "empty",
      wanted.join(" ") || undefined,
      "origin",
      "set",
      id,
      ...wanted,
    ],
  ];
}
