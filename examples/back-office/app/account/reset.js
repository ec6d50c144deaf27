import { address, go } from "../address.js";
import { h, link, narrowPage, toast } from "../dom.js";
import { form } from "../form.js";
import { replace } from "../replace.js";
import { knownStore, openStore, shop } from "../store.js";
import { language, t } from "../words.js";

/** A link in a mail may contain the email and the code. The page then asks only for the new password. */
export function show({ query }) {
  const email = query.get("email");
  // The code must not stay in the history of the browser.
  if (query.has("code")) history.replaceState(null, "", address("reset", { email }));
  return email && knownStore() ? codeStep(email, query.get("code")) : mailStep(email);
}

function mailStep(known) {
  const send = async ({ store, email }) => {
    openStore(store);
    await shop.auth.forgotPassword({ email, language: language() });
    replace(content, codeStep(email));
  };
  const content = narrowPage(
    "reset.title",
    h("p", t("reset.lead")),
    form("reset", send, { store: knownStore(), email: known }),
    link(address("sign-in"), "reset.back"),
  );
  return content;
}

function codeStep(email, code) {
  openStore(knownStore());
  const save = async ({ code: typed, password }) => {
    await shop.auth.resetPassword({ email, code: typed.replace(/\s/g, ""), password });
    go(address("sign-in", { email }), { replace: true });
    toast(t("reset.done"));
  };
  return narrowPage(
    "reset.choose",
    h("p", t("reset.sent", { email })),
    form("reset-code", save, { code }),
    link(address("reset"), "reset.again"),
  );
}
