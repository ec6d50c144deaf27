import { invalidField } from "../../../server/errors.ts";
import { slugFrom } from "../../../server/modules/catalogue/products/slug.ts";
import { requireStrongPassword } from "../../../server/modules/passwords/password-policy.ts";
import { spellPlainly } from "../../../server/values/fold-letters.ts";
import { askStrongPassword, readPassword } from "../../secrets/secrets.ts";
import { type Console, info } from "../../terminal/console.ts";
import { askChoice, askText, askYesNo } from "../../terminal/prompt.ts";
import { askOrigins } from "../key/key.ts";
import { checks, type InitArgs } from "./flags.ts";

export function findNamespace({ namespace, title }: InitArgs, existing: readonly string[]): string | undefined {
  if (namespace !== undefined) return namespace;
  if (title !== undefined) return suggestNamespace(title) || undefined;
  return existing.length === 1 ? existing[0] : undefined;
}

/** Returns a function that reads a text from its flag or asks for it. Without a terminal, it returns the suggestion. */
function asker(args: InitArgs, { canAsk }: Console) {
  return async (name: keyof typeof checks, message: string, question: Parameters<typeof askText>[1] = {}) =>
    args[name] ?? (canAsk ? askText(message, { ...question, check: checks[name] }) : (question.suggestion ?? ""));
}

export async function askNamespace(args: InitArgs, console: Console, existing: readonly string[]) {
  if (args.namespace !== undefined) return { namespace: args.namespace, title: args.title };
  if (args.title === undefined && existing.length > 0) {
    const choices = existing.map((value): { value: string | undefined; name: string } => ({ value, name: value }));
    const all = [...choices, { value: undefined, name: "a new store" }];
    const chosen = existing.length === 1 ? existing[0] : await askChoice("Store", all);
    if (chosen !== undefined) return { namespace: chosen, title: undefined };
  }
  const title = await asker(args, console)("title", "Name of the store");
  const namespace = await askText("Namespace (name of the store in every request)", {
    suggestion: suggestNamespace(title),
    check: (text) => {
      checks.namespace(text);
      if (args.title !== undefined || !existing.includes(text)) return;
      throw invalidField("namespace", `exists already; to set up that store: bodega init -n ${text}`);
    },
  });
  return { namespace, title };
}

/** Returns the fields of a new store. Without a terminal, missing flags have the defaults of `tenant create`. */
export async function resolveStore(
  args: InitArgs,
  console: Console,
  { namespace, title }: { namespace: string; title: string | undefined },
) {
  const ask = asker(args, console);
  const store = {
    title: title ?? (await ask("title", "Name of the store", { suggestion: namespace })),
    currency: checks.currency(await ask("currency", "Currency of prices, such as EUR or USD", { suggestion: "EUR" })),
    language: checks.language(await ask("language", "Default language, such as en or pt-BR", { suggestion: "en" })),
  };
  const answer = await ask("country", "Country of the store, such as DE (optional)", { optional: true });
  const country = answer === "" ? null : checks.country(answer);
  // Shops in these countries show prices without tax.
  const pricesIncludeTax = country === "US" || country === "CA" ? "no" : "yes";
  return { ...store, country, pricesIncludeTax: args["prices-include-tax"] ?? pricesIncludeTax } as const;
}

/** Makes a namespace from a title, such as `ada-s-mugs`. Returns an empty text if the title has no usable character. */
export function suggestNamespace(title: string): string {
  const plain = slugFrom(title, "de").normalize("NFKD").replaceAll(/\p{M}/gu, "");
  const letters = spellPlainly(plain).replaceAll(/[^a-z0-9-]/g, "");
  return letters.replaceAll(/-{2,}/g, "-").replace(/^-+/, "").slice(0, 63).replace(/-+$/, "");
}

export async function resolveOwner(args: InitArgs, console: Console) {
  const ask = asker(args, console);
  const introduction = "The owner has every permission in the store and signs in with email and password.";
  if (args["owner-email"] === undefined) await info(console, introduction);
  const email = await ask("owner-email", "Owner email");
  const name = await ask("owner-name", "Owner name (optional)", { optional: true });
  const { password, isRandom } = (await readPassword(args, console)) ?? (await askStrongPassword());
  requireStrongPassword("password", password);
  return { email, name, password, isRandom };
}

const keyIntroduction =
  "A website, an app or an importer needs an app key to use the store. If you name a site, it is a storefront key.";
const pages = "Sites whose pages may use the key, such as shop.example.com (optional)";

/** Returns the settings of the first app key. */
export async function resolveKey(args: InitArgs, console: Console) {
  if (console.canAsk) await info(console, keyIntroduction);
  const origins = console.canAsk && args.origin.length === 0 ? await askOrigins(pages, true) : args.origin;
  const suggestion = origins.length > 0 ? "storefront" : "backend";
  const name = await asker(args, console)("key-name", "Name of the first app key", { suggestion });
  const question = "Publish the key now? Requests with an unpublished key fail.";
  const isAsked = console.canAsk && !args.publish;
  return { name, publish: isAsked ? await askYesNo(question, true) : args.publish, origins };
}
