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
  languages: Type.Array(Type.String(), {
    description: "This language, and those of its newest 50 published products, for a choice of languages.",
  }),
  sign_up: oneOf(["off", "open", "verified"], {
    description: "`off`: customers cannot sign up. `open`: they may sign in before they have entered the mailed code.",
  }),
  sign_in_by_mail: Type.Boolean({
    description: "Whether customers can sign in with a mailed code (`POST /auth/code/`).",
  }),
});
