import type { Environment } from "../../../server/config/environment.ts";
import { invalidField } from "../../../server/errors.ts";
import { slugFrom } from "../../../server/modules/products/slug.ts";
import { parseCurrency } from "../../../server/modules/tenants/currency.ts";
import { checkFields } from "../../../server/modules/tenants/input.ts";
import { parseLanguage } from "../../../server/modules/tenants/language.ts";
import { parseNamespace } from "../../../server/modules/tenants/namespace.ts";
import { spellPlainly } from "../../../server/values/fold-letters.ts";
import { type ArgValues, type CommandArgs, namespaceArg } from "../../framework/args.ts";
import type { Console } from "../../terminal/console.ts";
import { askChoice, askSearch, askText } from "./questions.ts";

export const storeFlags = {
  namespace: { ...namespaceArg, description: "Namespace of the store in every request (default: made from --title)" },
  title: { type: "string", valueHint: "text", description: "Name of the store" },
  currency: { type: "string", valueHint: "code", description: "Currency of prices, an ISO 4217 code (default: EUR)" },
  language: {
    type: "string",
    valueHint: "tag",
    description: "Default language of texts, such as en or pt-BR (default: en)",
  },
} as const satisfies CommandArgs;

type StoreArgs = ArgValues<typeof storeFlags>;

/** Errors: validationFailed naming the field. */
export function checkStoreFlags({ namespace, title, currency, language }: StoreArgs): void {
  if (namespace !== undefined) parseNamespace(namespace);
  if (currency !== undefined) parseCurrency(currency);
  checkFields({ title, language });
}

/** The namespace that the flags name directly, through --title, or as the only existing store. */
export function findNamespace({ namespace, title }: StoreArgs, existing: readonly string[]): string | undefined {
  if (namespace !== undefined) return namespace;
  if (title !== undefined) return suggestNamespace(title) || undefined;
  return existing.length === 1 ? existing[0] : undefined;
}

/**
 * Asks which store to set up, unless the flags say so.
 * @returns the title too, where it was asked for.
 */
export async function askNamespace(
  args: StoreArgs,
  existing: readonly string[],
): Promise<{ namespace: string; title: string | undefined }> {
  if (args.namespace !== undefined) return { namespace: args.namespace, title: args.title };
  const isNew = args.title !== undefined || existing.length === 0;
  if (!isNew) {
    const choices = existing.map((value): { value: string | null; name: string } => ({ value, name: value }));
    const chosen =
      existing.length === 1
        ? existing[0]
        : await askChoice("Store", [...choices, { value: null, name: "a new store" }]);
    if (typeof chosen === "string") return { namespace: chosen, title: undefined };
  }
  const title = args.title ?? (await askTitle());
  const namespace = await askText("Namespace (name of the store in every request)", {
    suggestion: suggestNamespace(title),
    check: (text) => checkNew(text, args.title === undefined ? existing : []),
  });
  return { namespace, title };
}

/** The fields of a new store. Where nobody can be asked, missing flags get the defaults of `tenant create`. */
export async function takeStore(
  args: StoreArgs,
  console: Console,
  { namespace, title = args.title }: { namespace: string; title: string | undefined },
): Promise<{ title: string; currency: string; language: string }> {
  const suggested = console.canAsk ? suggestFromLocale(console.env) : { currency: "EUR", language: "en" };
  const name = title ?? (console.canAsk ? await askTitle() : namespace);
  const currency =
    args.currency ??
    (console.canAsk ? await askSearch("Currency of prices", listCurrencies(), suggested.currency) : suggested.currency);
  const language = args.language ?? (console.canAsk ? await askLanguage(suggested.language) : suggested.language);
  return { title: name, currency: parseCurrency(currency), language: parseLanguage("language", language) };
}

function askTitle(): Promise<string> {
  return askText("Name of the store", { check: (title) => checkFields({ title }) });
}

function askLanguage(suggestion: string): Promise<string> {
  const check = (text: string) => parseLanguage("language", text);
  return askText("Default language, such as en or pt-BR", { suggestion, check });
}

function checkNew(namespace: string, existing: readonly string[]): void {
  parseNamespace(namespace);
  if (existing.includes(namespace)) {
    throw invalidField("namespace", `exists already; to set up that store: bodega init -n ${namespace}`);
  }
}

/** A namespace made from a title: `ada-s-mugs`, `grosse-ofen`. Empty for a title without a letter or digit of ASCII. */
export function suggestNamespace(title: string): string {
  const plain = slugFrom(title).normalize("NFKD").replaceAll(/\p{M}/gu, "");
  const letters = spellPlainly(plain).replaceAll(/[^a-z0-9-]/g, "");
  return letters.replaceAll(/-{2,}/g, "-").replace(/^-+/, "").slice(0, 63).replace(/-+$/, "");
}

// A currency's first two letters are its region. Regions that are not here get EUR.
const regionalCurrencies =
  "AED ARS AUD BRL CAD CHF CLP CNY COP CZK DKK EGP GBP HKD HUF IDR ILS INR JPY KES KRW MAD MXN MYR NGN NOK NZD PEN PHP PKR PLN RON RSD RUB SAR SEK SGD THB TND TRY TWD UAH USD UYU VND ZAR".split(
    " ",
  );

/** The language of the terminal's locale, and the currency of its region. */
function suggestFromLocale(env: Environment): { currency: string; language: string } {
  const locale = env.LC_ALL || env.LC_MESSAGES || env.LANG || "";
  const [, language = "en", region = "none"] = /^([a-z]{2,3})(?:_([A-Z]{2}))?(?:[.@]|$)/.exec(locale) ?? [];
  return { language, currency: regionalCurrencies.find((code) => code.startsWith(region)) ?? "EUR" };
}

// The only codes with an X that are money of countries; the others are gold, tests and the like.
const sharedCurrencies = new Set(["XAF", "XCD", "XCG", "XOF", "XPF"]);

function listCurrencies(): { value: string; name: string }[] {
  const names = new Intl.DisplayNames("en", { type: "currency" });
  const all = Intl.supportedValuesOf("currency").map((value) => ({
    value,
    name: `${value}  ${names.of(value) ?? ""}`,
  }));
  // Names of former currencies end in years.
  return all.filter(
    ({ value, name }) => !/\(\d{4}/.test(name) && (!value.startsWith("X") || sharedCurrencies.has(value)),
  );
}
