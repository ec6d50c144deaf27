import { type Static, Type } from "@sinclair/typebox";
import { nullable, oneOf, output } from "../../values/schema.ts";

const store = {
  namespace: Type.String(),
  title: Type.String(),
  domain: nullable(Type.String()),
  url: nullable(Type.String()),
  currency: Type.String({ description: "ISO 4217." }),
  currency_sign: Type.String(),
  logo: nullable(Type.String()),
};

export const Store = output("Store", store);
export type Store = Static<typeof Store>;

export const StoreProfile = output("StoreProfile", {
  ...store,
  language: Type.String({ description: "Language of texts without `lang`." }),
  languages: Type.Array(Type.String(), { description: "This language, and those of its newest 50 public products." }),
  country: nullable(Type.String({ description: "ISO 3166-1 alpha-2." })),
  prices_include_tax: Type.Boolean(),
  tax_note: nullable(Type.String({ description: 'Shown in place of "incl. VAT" by stores that charge none.' })),
  legal_urls: Type.Record(Type.String(), Type.String(), {
    description: "Addresses of legal texts, such as `imprint`, `terms`, `withdrawal` and `privacy`.",
  }),
  order_url: nullable(Type.String({ description: "The page that shows a guest's order." })),
  transfer_instructions: nullable(Type.String({ description: "How to pay by bank transfer." })),
  hold: Type.Integer({ description: "Seconds for which an unpaid order reserves stock." }),
  transfer_hold: Type.Integer({ description: "Seconds for which an order waits for a bank transfer." }),
  payment_methods: Type.Array(oneOf(["manual", "stripe"]), { description: "How orders can be paid." }),
  has_shipping_rates: Type.Boolean({ description: "Whether orders of goods that are sent need a shipping rate." }),
  sign_up: oneOf(["off", "open", "verified"], {
    description: "`off`: customers cannot sign up. `open`: they can sign in before they have entered the mailed code.",
  }),
  sign_in_by_mail: Type.Boolean({ description: "Whether `POST /auth/code/` mails customers a code to sign in with." }),
});
