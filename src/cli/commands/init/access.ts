import { resolve } from "node:path";
import type { ShopPlan } from "../../../server/admin/create-shop.ts";
import { type Config, readConfig } from "../../../server/config/config.ts";
import { attempt } from "../../../server/errors.ts";
import { slugFrom } from "../../../server/modules/products/slug.ts";
import { planSecretFile } from "../../secrets/deliver.ts";
import {
  askStrongPassword,
  makePassword,
  type NewPassword,
  readSecretFile,
  readSecretLine,
} from "../../secrets/passwords.ts";
import type { Console } from "../../terminal/console.ts";
import { askChoice, askText, askYesNo, introduce } from "../../terminal/prompt.ts";
import { askOrigins } from "../key/args.ts";
import { checks, type InitArgs, wantsRandomPassword } from "./flags.ts";

/** The owner's account. `before` is suggested. Errors: validationFailed for a weak password. */
export async function takeOwner(args: InitArgs, console: Console, before: { email?: string; name?: string } = {}) {
  const { "owner-email": givenEmail, "owner-name": givenName } = args;
  if (givenEmail === undefined) {
    await introduce(console, "The owner has every permission in the store and signs in with email and password.");
  }
  const email =
    givenEmail ?? (await askText("Owner email", { suggestion: before.email, check: checks["owner-email"] }));
  const question = { suggestion: before.name, optional: true, check: checks["owner-name"] };
  const name = givenName ?? (console.canAsk ? await askText("Owner name (optional)", question) : "");
  const { password, isRandom } = await takePassword(args, console);
  const { requireStrongPassword } = await import("../../../server/modules/passwords/password-policy.ts");
  requireStrongPassword("password", password);
  return { email, name, password, isRandom };
}

async function takePassword(args: InitArgs, console: Console): Promise<NewPassword> {
  if (args["owner-password-stdin"]) {
    return { password: await readSecretLine(console, "--owner-password-stdin"), isRandom: false };
  }
  const file = args["owner-password-file"];
  if (file !== undefined) return { password: readSecretFile(file, "--owner-password-file"), isRandom: false };
  return wantsRandomPassword(args) ? { password: makePassword(), isRandom: true } : askStrongPassword();
}

const keyIntroduction =
  "A website, an app or an importer needs an app key to use the store. If you name a site, it is a storefront key.";
const pages = "Sites whose pages may use the key, such as shop.example.com (optional)";

/**
 * The first app key. When it cannot ask, it stays unpublished unless --publish is given. `secretFile` is the path of the
 * file for its secret; undefined to print it, also when no file can be created. `before` is suggested.
 */
export async function takeKey(args: InitArgs, console: Console, namespace: string, before?: ShopPlan["key"]) {
  const { "key-name": givenName, publish: givenPublish, origin } = args;
  if (console.canAsk) await introduce(console, keyIntroduction);
  const isAsked = console.canAsk && args.origins && origin.length === 0;
  const origins = isAsked ? await askOrigins(pages, true, before?.origins.join(", ")) : origin;
  const purpose = origins.length > 0 ? "storefront" : "backend";
  const suggestion = before && before.origins.length > 0 === origins.length > 0 ? before.name : purpose;
  const secretFile = args["save-secret-to"];
  if (!console.canAsk) return { name: givenName ?? suggestion, publish: givenPublish ?? false, origins, secretFile };
  const name = givenName ?? (await askText("Name of the first app key", { suggestion, check: checks["key-name"] }));
  const question = "Publish the key now? Requests with an unpublished key fail.";
  const publish = givenPublish ?? (await askYesNo(question, before?.publish ?? true));
  const file = `${namespace}-${slugFrom(name) || "key"}.secret`;
  if (secretFile !== undefined || !attempt(() => planSecretFile(file))) return { name, publish, origins, secretFile };
  const chosen = await askChoice<string | undefined>("Where should the key's secret go?", [
    { value: resolve(file), name: `to the file ${file}` },
    { value: undefined, name: "to the screen, once" },
  ]);
  return { name, publish, origins, secretFile: chosen };
}

/** The public URL of a server that other machines reach, which a terminal asks for; undefined for none. `before` is suggested. */
export async function takePublicUrl(args: InitArgs, console: Console, { host, publicUrl }: Config, before?: string) {
  const isLocal = /^(?:127\.|::1$|localhost$)/.test(host);
  if (!console.canAsk || isLocal || publicUrl !== undefined) return args["public-url"];
  const check = (text: string) => readConfig({ "data-dir": "/dev/null", "public-url": text }, {});
  const question = { suggestion: before, optional: true, check };
  return (await askText("Public URL, such as https://shop.example.com (optional)", question)) || undefined;
}
