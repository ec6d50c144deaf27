import { address, go } from "../address.js";
import { h, page } from "../dom.js";
import { form } from "../form.js";
import { openStore, signIn } from "../store.js";
import { t } from "../words.js";
import { emailField, otpField, passwordField, storeField } from "./fields.js";

export function show({ query }) {
  const otp = h("div", {});
  const content = page(
    t("signIn.title"),
    query.has("ended") && h("p", { class: "note", role: "alert" }, t("signIn.ended")),
    form(
      "signIn.submit",
      async ({ store, ...given }, root) => {
        openStore(store);
        try {
          await signIn(given);
        } catch (error) {
          if (error.code !== 5211 || otp.hasChildNodes()) throw error;
          otp.append(otpField(t("signIn.otpHint")));
          return root.elements.otp.focus();
        }
        const next = query.get("next");
        go(next?.startsWith("#/") ? next : "#/", { replace: true });
      },
      storeField(),
      emailField(query.get("email")),
      passwordField(),
      otp,
    ),
    h("p", {}, h("a", { href: address("reset") }, t("reset.open"))),
    h("p", { class: "hint" }, t("signIn.once")),
  );
  content.classList.add("narrow");
  return content;
}
