import { address, go } from "../address.js";
import { h, link, narrowPage } from "../dom.js";
import { form, given } from "../form.js";
import { knownStore, openStore, signIn } from "../store.js";
import { t } from "../words.js";

export function show({ query }) {
  const submit = async ({ store, ...values }, root) => {
    openStore(store);
    const { otp } = root.elements;
    const place = otp.closest(".field");
    try {
      await signIn(given(values));
    } catch (error) {
      if (error.code !== 5211 || !place.hidden) throw error;
      place.hidden = false;
      otp.required = true;
      return otp.focus();
    }
    const next = query.get("next");
    go(next?.startsWith("#/") ? next : "#/", { replace: true });
  };
  return narrowPage(
    "signIn.title",
    query.has("ended") && h("p.note", { role: "alert" }, t("signIn.ended")),
    form("sign-in", submit, { store: knownStore(), email: query.get("email") }),
    link(address("reset"), "reset.open"),
    h("p.hint", t("signIn.once")),
  );
}
