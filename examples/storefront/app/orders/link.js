import { address } from "../address.js";
import { take } from "../dom.js";
import { mailNote, nextStep, onSubmit } from "../form.js";
import { shop } from "../shop.js";
import { t } from "../words.js";

/** Asks for a new link to a guest's order. The reply does not say whether there is one. */
export function show({ query }) {
  const content = take("lost-link", {
    "sign-in": { href: address("sign-in", { next: query.get("next") ?? "#/orders" }) },
  });
  onSubmit(content, async ({ number, email }) => {
    await shop.orders.mailLink({ number: Number(number), email });
    nextStep(content, take("link-sent", { lead: t("link.sent", { email }), mail: mailNote("mail.demo") }));
  });
  return content;
}
