import { dirname } from "node:path";
import type { ShopSetup } from "../../../server/admin/create-shop.ts";
import type { WrittenSettings } from "../../../server/config/env-file-write.ts";
import { commandLine, quoteWords } from "../../terminal/command-line.ts";
import { type InitArgs, wantsRandomPassword } from "./flags.ts";
import { isUsualFolder } from "./guide.ts";

/** What was asked for and is otherwise already: a sentence each, with the command that changes it. */
export function tellDifferences(args: InitArgs, setup: ShopSetup, settings: WrittenSettings): string[] {
  const { store, owner, key, made } = setup;
  const { namespace } = store;
  const kept: string[] = [];
  const folder = dirname(settings.path);
  const command = commandLine({
    ...args,
    "data-dir": args["data-dir"] ?? (isUsualFolder(folder) ? undefined : folder),
  });
  const compare = (what: string, standing: unknown, wanted: unknown, ...change: string[]) => {
    if (wanted === undefined || wanted === standing) return;
    kept.push(`${what} stays ${standing}; to change it: ${command(quoteWords(...change))}`);
  };
  if (!made.store) {
    const update = ["tenant", "update", namespace];
    const currency = args.currency?.toUpperCase();
    compare("The store's name", store.title, args.title, ...update, "--title", args.title ?? "");
    compare("The currency", store.currency, currency, ...update, "--currency", currency ?? "");
    compare("The language", store.language, args.language, ...update, "--language", args.language ?? "");
  }
  if (!made.owner && owner !== null) {
    const wanted = args["owner-email"];
    if (wanted !== undefined && wanted.toLowerCase() !== owner.email.toLowerCase()) {
      const create = command(`user create -n ${namespace} --role owner --email ${quoteWords(wanted)}`);
      kept.push(`The owner stays ${owner.email}; for another: ${create}`);
    }
    if (args["owner-password-stdin"] || wantsRandomPassword(args)) {
      const way = args["owner-password-stdin"] ? "--password-stdin" : "--random-password";
      const set = command(`user set-password -n ${namespace} ${owner.id} ${way}`);
      kept.push(`The owner's password stays as it is; to set another: ${set}`);
    }
  }
  if (!made.key && key !== null) {
    const { app_id } = key;
    const name = args["key-name"];
    if (args["secret-file"] !== undefined)
      kept.push(`The key's secret stays as it is; for another: ${command(`key rotate ${app_id}`)}`);
    compare("The key's name", key.name, name, "key", "update", app_id, "--name", name ?? "");
    const wish = args.publish === undefined ? undefined : describePublished(args.publish);
    compare("The key", describePublished(key.published), wish, "key", args.publish ? "publish" : "unpublish", app_id);
    const wanted = [...args.origin].sort();
    compare(
      "The key's list of origins",
      key.origins.join(" ") || "empty",
      wanted.join(" ") || undefined,
      ...["origin", "set", app_id, ...wanted],
    );
  }
  for (const name of settings.kept)
    kept.push(`${name} stays as it is in ${settings.path}; to change it, edit that file`);
  return kept;
}

function describePublished(isPublished: boolean): string {
  return isPublished ? "published" : "unpublished";
}
