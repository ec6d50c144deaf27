import { invalidField } from "../../../server/errors.ts";
import { slugFrom } from "../../../server/modules/products/slug.ts";
import { parseCurrency } from "../../../server/modules/tenants/currency.ts";
import { checkFields } from "../../../server/modules/tenants/input.ts";
import { parseLanguage } from "../../../server/modules/tenants/language.ts";
import { parseNamespace } from "../../../server/modules/tenants/namespace.ts";
import type { Console } from "../../terminal/console.ts";
import { info } from "../../terminal/output.ts";
import type { Answers } from "./answers.ts";
import type { InitArgs } from "./flags.ts";
import { askChoice, askSearch, askText } from "./questions.ts";
import { suggestFromLocale, suggestNamespace } from "./suggest-answers.ts";

/** Money of several countries together. */
const shared = new Set(["XAF", "XCD", "XCG", "XOF", "XPF"]);

/** The namespace that the flags name: by itself, by the store's name, or as the only one there is. */
export function findNamespace(args: InitArgs, standing: readonly string[]): string | undefined {
  if (args.namespace !== undefined) return args.namespace;
  if (args.title !== undefined) return suggestNamespace(slugFrom(args.title)) || undefined;
  return standing.length === 1 ? standing[0] : undefined;
}

/**
 * Which store it is about, asked where the flags leave it open.
 * @returns its name too, where that had to be asked first.
 */
export async function askNamespace(
  args: InitArgs,
  standing: readonly string[],
): Promise<{ namespace: string; title: string | undefined }> {
  if (args.namespace !== undefined) return { namespace: args.namespace, title: args.title };
  if (args.title === undefined && standing.length === 1) return { namespace: standing[0] as string, title: undefined };
  if (args.title === undefined && standing.length > 1) {
    const choices = standing.map((namespace): { value: string | null; name: string } => ({
      value: namespace,
      name: namespace,
    }));
    const chosen = await askChoice("Which store?", [...choices, { value: null, name: "a new one" }]);
    if (chosen !== null) return { namespace: chosen, title: undefined };
  }
  const title =
    args.title ?? (await askText("What is the store called?", { check: (text) => checkFields({ title: text }) }));
  const namespace = await askText("Its name in every request (namespace)", {
    suggestion: suggestNamespace(slugFrom(title)),
    check: (text) => checkNew(text, args.title === undefined ? standing : []),
  });
  return { namespace, title };
}

/** What a new store needs besides its namespace; without a terminal, what the flags leave open is as `tenant create` has it. */
export async function takeStore(
  args: InitArgs,
  console: Console,
  { namespace, title }: { namespace: string; title: string | undefined },
): Promise<NonNullable<Answers["store"]>> {
  if (!console.canAsk) {
    const { currency = "EUR", language = "en" } = args;
    return {
      title: title ?? args.title ?? namespace,
      currency: parseCurrency(currency),
      language: parseLanguage("language", language),
    };
  }
  const suggested = suggestFromLocale(console.env);
  const name =
    title ??
    args.title ??
    (await askText("What is the store called?", { check: (text) => checkFields({ title: text }) }));
  const currency = args.currency ?? (await askSearch("Currency of its prices", listCurrencies(), suggested.currency));
  const language = args.language ?? (await askLanguage(console, suggested.language));
  return { title: name, currency: parseCurrency(currency), language: parseLanguage("language", language) };
}

async function askLanguage(console: Console, suggestion: string): Promise<string> {
  const check = (text: string) => parseLanguage("language", text);
  const language = await askText("Language of its texts, such as en or pt-BR", { suggestion, check });
  await info(console, "  Other languages are added product by product, as translations.");
  return language;
}

function checkNew(text: string, standing: readonly string[]): void {
  parseNamespace(text);
  if (standing.includes(text)) {
    throw invalidField("namespace", `is taken here; to go on with that store: bodega init -n ${text}`);
  }
}

function listCurrencies(): { value: string; name: string }[] {
  const names = new Intl.DisplayNames("en", { type: "currency" });
  const all = Intl.supportedValuesOf("currency").map((code) => ({
    value: code,
    name: `${code}  ${names.of(code) ?? ""}`,
  }));
  // Those of the past say from when to when they were money; an X stands for gold, tests and the like.
  return all.filter(({ value, name }) => !/\(\d{4}/.test(name) && (!value.startsWith("X") || shared.has(value)));
}
