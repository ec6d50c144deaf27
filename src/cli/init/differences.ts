import type { WrittenSettings } from "../../server/settings-write.ts";
import type { ShopSetup } from "../../server/shop-setup.ts";
import type { InitArgs } from "./flags.ts";

/** What was asked for and is otherwise already: a sentence each, with the command that changes it. */
export function tellDifferences(args: InitArgs, setup: ShopSetup, settings: WrittenSettings): string[] {
  const { store, owner, key, made } = setup;
  const { namespace } = store;
  const kept: string[] = [];
  const compare = (what: string, standing: unknown, wanted: unknown, change: string) => {
    if (wanted !== undefined && wanted !== standing) kept.push(`${what} stays ${standing}; to change it: ${change}`);
  };
  if (!made.store) {
    const update = `bodega tenant update ${namespace}`;
    compare("The store's name", store.title, args.title, `${update} --title`);
    compare("The currency", store.currency, args.currency?.toUpperCase(), `${update} --currency`);
    compare("The language", store.language, args.language, `${update} --language`);
  }
  if (!made.owner && owner !== null) {
    const create = `bodega user create -n ${namespace} --role owner --email`;
    const wanted = args["owner-email"];
    if (wanted !== undefined && wanted.toLowerCase() !== owner.email.toLowerCase()) {
      kept.push(`The owner stays ${owner.email}; for another: ${create} ${wanted}`);
    }
  }
  if (!made.key && key !== null) {
    const { app_id } = key;
    compare("The key's name", key.name, args["key-name"], `bodega key issue -n ${namespace} --name (another key)`);
    const change = args.publish ? "publish" : "unpublish";
    compare("Whether the key is published", key.published, args.publish, `bodega key ${change} ${app_id}`);
    const wanted = args.origin.length > 0 ? [...args.origin].sort().join(" ") : undefined;
    compare(
      "The key's list of origins",
      key.origins.join(" ") || "empty",
      wanted,
      `bodega origin set ${app_id} ${wanted}`,
    );
  }
  for (const name of settings.kept)
    kept.push(`${name} stays as it is in ${settings.path}; to change it, edit that file`);
  return kept;
}
