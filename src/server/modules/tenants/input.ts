import { invalidField } from "../../errors.ts";
import { requireText } from "../../text.ts";
import { parseLanguage } from "./language.ts";

/** What can be said of a tenant besides its name. */
export interface TenantInput {
  title?: string | undefined;
  domain?: string | null | undefined;
  url?: string | null | undefined;
  currency?: string | undefined;
  currencySign?: string | undefined;
  logo?: string | null | undefined;
  language?: string | undefined;
  /** How long its user tokens last from now on, in seconds. */
  tokenLifetime?: number | undefined;
}

const shortestLifetime = 5 * 60;
const longestLifetime = 400 * 86_400;

/**
 * The same fields, with the language in its canonical form; the currency is judged where it is needed.
 * @throws AppError 5102 naming the field at fault.
 */
export function checkFields<T extends TenantInput>(input: T): T {
  if (input.title !== undefined) requireText("title", input.title, 200);
  if (input.currencySign !== undefined) requireText("currency_sign", input.currencySign, 8);
  if (input.language !== undefined) input = { ...input, language: parseLanguage("language", input.language) };
  if (input.domain) requireHost(input.domain);
  if (input.tokenLifetime !== undefined) requireLifetime(input.tokenLifetime);
  for (const field of ["url", "logo"] as const) {
    const value = input[field];
    if (value && !(URL.canParse(value) && /^https?:/i.test(value))) {
      throw invalidField(field, "must be an http or https address");
    }
  }
  return input;
}

function requireLifetime(seconds: number): void {
  if (!Number.isInteger(seconds) || seconds < shortestLifetime || seconds > longestLifetime) {
    throw invalidField("token_lifetime", "must be from 5 minutes to 400 days");
  }
}

function requireHost(domain: string): void {
  const url = `http://${domain}`;
  if (!URL.canParse(url) || new URL(url).host !== domain.toLowerCase()) {
    throw invalidField("domain", "must be a host name, such as shop.example.com");
  }
}
