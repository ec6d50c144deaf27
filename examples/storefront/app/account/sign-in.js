import { address, go } from "../address.js";
import { slot, take } from "../dom.js";
import { onSubmit } from "../form.js";
import { shop } from "../shop.js";

export async function show({ query }) {
  const next = query.get("next");
  const content = take("sign-in", {
    first: next && {},
    email: { value: query.get("email") },
    "sign-up": { href: address("sign-up", { next }) },
  });
  onSubmit(content, async (values) => {
    try {
      await shop.auth.login(values);
      goOn(next);
    } catch (error) {
      if (error.code !== 5211) throw error;
      slot(content, "otp").replaceChildren(take("otp"));
      content.querySelector("[name=otp]").focus();
    }
  });
  return content;
}

/** Never to another site. */
export function goOn(next) {
  go(next?.startsWith("#/") ? next : "#/account", { replace: true });
}
