import { invalidField } from "../../../server/errors.ts";
import { slugFrom } from "../../../server/modules/products/slug.ts";
import { spellPlainly } from "../../../server/values/fold-letters.ts";
import type { Console } from "../../terminal/console.ts";
import { askChoice, askText } from "../../terminal/prompt.ts";
import { checks, type InitArgs } from "./flags.ts";

/** The namespace from --namespace or --title, or of the only existing store. */
export function findNamespace({ namespace, title }: InitArgs, existing: readonly string[]): string | undefined {
  if (namespace !== undefined) return namespace;
  if (title !== undefined) return suggestNamespace(title) || undefined;
  return existing.length === 1 ? existing[0] : undefined;
}

type Named = { namespace: string; title: string | undefined };

export async function askNamespace(args: InitArgs, existing: readonly string[], before?: Named) {
  if (args.namespace !== undefined) return { namespace: args.namespace, title: args.title };
  if (args.title === undefined && existing.length > 0) {
    const choices = existing.map((value): { value: string | undefined; name: string } => ({ value, name: value }));
    const chosen =
      existing.length === 1
        ? existing[0]
        : await askChoice("Store", [...choices, { value: undefined, name: "a new store" }]);
    if (chosen !== undefined) return { namespace: chosen, title: undefined };
  }
  const title = args.title ?? (await askTitle(before?.title));
  const namespace = await askText("Namespace (name of the store in every request)", {
    suggestion: before?.title === title ? before.namespace : suggestNamespace(title),
    check: (text) => {
      checks.namespace(text);
      if (args.title !== undefined || !existing.includes(text)) return;
      throw invalidField("namespace", `exists already; to set up that store: bodega init -n ${text}`);
    },
  });
  return { namespace, title };
}

/** The fields of a new store. When it cannot ask, missing flags get the defaults of `tenant create`. `before` is suggested. */
export async function takeStore(
  args: InitArgs,
  console: Console,
  { namespace, title }: Named,
  before: { title?: string; currency?: string; language?: string } = {},
) {
  const ask = (message: string, suggestion: string, check: (text: string) => unknown) =>
    console.canAsk ? askText(message, { suggestion, check }) : suggestion;
  const { LC_ALL, LC_MESSAGES, LANG } = console.env;
  const [locale = "en"] = /^[a-z]{2,3}(?=[_.@]|$)/.exec(LC_ALL || LC_MESSAGES || LANG || "") ?? [];
  const given = title ?? (console.canAsk ? await askTitle(before.title) : namespace);
  const money = before.currency ?? "EUR";
  const currency = args.currency ?? (await ask("Currency of prices, such as EUR or USD", money, checks.currency));
  const suggestion = before.language ?? (console.canAsk ? locale : "en");
  const language = args.language ?? (await ask("Default language, such as en or pt-BR", suggestion, checks.language));
  return { title: given, currency: checks.currency(currency), language: checks.language(language) };
}

function askTitle(suggestion: string | undefined): Promise<string> {
  return askText("Name of the store", { suggestion, check: checks.title });
}

/** A namespace made from a title: `ada-s-mugs`, `groesse-oefen`. Empty for a title without a letter or digit of ASCII. */
export function suggestNamespace(title: string): string {
  const plain = slugFrom(title, "de").normalize("NFKD").replaceAll(/\p{M}/gu, "");
  const letters = spellPlainly(plain).replaceAll(/[^a-z0-9-]/g, "");
  return letters.replaceAll(/-{2,}/g, "-").replace(/^-+/, "").slice(0, 63).replace(/-+$/, "");
}
