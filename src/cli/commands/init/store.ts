import type { Environment } from "../../../server/config/environment.ts";
import { invalidField } from "../../../server/errors.ts";
import { slugFrom } from "../../../server/modules/products/slug.ts";
import { spellPlainly } from "../../../server/values/fold-letters.ts";
import type { Console } from "../../terminal/console.ts";
import { askChoice, askSearch, askText } from "../../terminal/prompt.ts";
import { checks, type InitArgs } from "./flags.ts";

/** The namespace from --namespace or --title, or of the only existing store. */
export function findNamespace({ namespace, title }: InitArgs, existing: readonly string[]): string | undefined {
  if (namespace !== undefined) return namespace;
  if (title !== undefined) return suggestNamespace(title) || undefined;
  return existing.length === 1 ? existing[0] : undefined;
}

/** Asks which store to set up, unless the flags say so. Returns the title too, if it was asked for. */
export async function askNamespace(args: InitArgs, existing: readonly string[]) {
  if (args.namespace !== undefined) return { namespace: args.namespace, title: args.title };
  const isNew = args.title !== undefined || existing.length === 0;
  if (!isNew) {
    const choices = existing.map((value): { value: string | null; name: string } => ({ value, name: value }));
    const [only] = existing;
    const chosen =
      existing.length === 1 ? only : await askChoice("Store", [...choices, { value: null, name: "a new store" }]);
    if (typeof chosen === "string") return { namespace: chosen, title: undefined };
  }
  const title = args.title ?? (await askTitle());
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

/** The fields of a new store. When it cannot ask, missing flags get the defaults of `tenant create`. */
export async function takeStore(
  args: InitArgs,
  console: Console,
  { namespace, title }: { namespace: string; title: string | undefined },
): Promise<{ title: string; currency: string; language: string }> {
  const given = { title: title ?? args.title, currency: args.currency, language: args.language };
  const { language, currency } = suggestFromLocale(console.env);
  const answers = console.canAsk
    ? {
        title: given.title ?? (await askTitle()),
        currency: given.currency ?? (await askSearch("Currency of prices", listCurrencies(), currency)),
        language:
          given.language ??
          (await askText("Default language, such as en or pt-BR", { suggestion: language, check: checks.language })),
      }
    : { title: given.title ?? namespace, currency: given.currency ?? "EUR", language: given.language ?? "en" };
  return { ...answers, currency: checks.currency(answers.currency), language: checks.language(answers.language) };
}

function askTitle(): Promise<string> {
  return askText("Name of the store", { check: checks.title });
}

/** A namespace made from a title: `ada-s-mugs`, `grosse-ofen`. Empty for a title without a letter or digit of ASCII. */
export function suggestNamespace(title: string): string {
  const plain = slugFrom(title).normalize("NFKD").replaceAll(/\p{M}/gu, "");
  const letters = spellPlainly(plain).replaceAll(/[^a-z0-9-]/g, "");
  return letters.replaceAll(/-{2,}/g, "-").replace(/^-+/, "").slice(0, 63).replace(/-+$/, "");
}

// The currencies in use, the common ones first. A currency's first two letters are its region.
const currencies =
  `EUR USD GBP CHF JPY CNY INR CAD AUD NZD SEK NOK DKK PLN CZK HUF RON TRY BRL MXN ZAR KRW SGD HKD AED AFN ALL AMD AOA ARS
AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BSD BTN BWP BYN BZD CDF CLP COP CRC CUP CVE DJF DOP DZD EGP ERN ETB FJD FKP GEL
GHS GIP GMD GNF GTQ GYD HNL HTG IDR ILS IQD IRR ISK JMD JOD KES KGS KHR KMF KPW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD
MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MYR MZN NAD NGN NIO NPR OMR PAB PEN PGK PHP PKR PYG QAR RSD RUB RWF SAR SBD SCR
SDG SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TTD TWD TZS UAH UGX UYU UZS VES VND VUV WST XAF XCD XCG XOF
XPF YER ZMW ZWG`.split(/\s/);

/** The language of the terminal's locale, and the currency of its region. */
function suggestFromLocale(env: Environment): { currency: string; language: string } {
  const locale = env.LC_ALL || env.LC_MESSAGES || env.LANG || "";
  const [, language = "en", region = "none"] = /^([a-z]{2,3})(?:_([A-Z]{2}))?(?:[.@]|$)/.exec(locale) ?? [];
  const currency = currencies.find((code) => code.startsWith(region)) ?? "EUR";
  return { language, currency };
}

function listCurrencies(): { value: string; name: string }[] {
  const names = new Intl.DisplayNames("en", { type: "currency" });
  const known = Intl.supportedValuesOf("currency");
  return currencies
    .filter((code) => known.includes(code))
    .map((value) => ({ value, name: `${value}  ${names.of(value) ?? ""}` }));
}
