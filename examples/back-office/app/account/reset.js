import { address, go } from "../address.js";
import { focusOn, h, page, toast } from "../dom.js";
import { field, form } from "../form.js";
import { knownStore, openStore, shop } from "../store.js";
import { language, t } from "../words.js";
import { emailField, storeField } from "./fields.js";

/** A link in a mail may name the email and the code: then only the new password is asked for. */
export function show({ query }) {
  const email = query.get("email");
  // The code must not stay in the history of the browser.
  if (query.has("code")) history.replaceState(null, "", address("reset", { email }));
  return email && knownStore() ? codeStep(email, query.get("code")) : mailStep(email);
}

function mailStep(email) {
  const content = page(
    t("reset.title"),
    h("p", {}, t("reset.lead")),
    form(
      "reset.send",
      async ({ store, email: to }) => {
        openStore(store);
        await shop.auth.forgotPassword({ email: to, language: language() });
        const next = codeStep(to);
        content.replaceWith(next);
        focusOn(next.querySelector("h1"));
      },
      storeField(),
      emailField(email),
    ),
    h("p", {}, h("a", { href: address("sign-in") }, t("reset.back"))),
  );
  content.classList.add("narrow");
  return content;
}

function codeStep(email, code) {
  openStore(knownStore());
  const content = page(
    t("reset.choose"),
    h("p", {}, t("reset.sent", { email })),
    form(
      "reset.save",
      async ({ code: typed, password }) => {
        await shop.auth.resetPassword({ email, code: typed.replace(/\s/g, ""), password });
        go(address("sign-in", { email }), { replace: true });
        toast(t("reset.done"));
      },
      field("code", "reset.code", {
        value: code,
        required: true,
        autocomplete: "one-time-code",
        inputmode: "numeric",
        pattern: "[0-9 ]{6,9}",
      }),
      field("password", "reset.password", {
        type: "password",
        required: true,
        minlength: 16,
        autocomplete: "new-password",
        hint: t("reset.rules"),
      }),
    ),
    h("p", {}, h("a", { href: address("reset") }, t("reset.again"))),
  );
  content.classList.add("narrow");
  return content;
}
