import { go } from "../address.js";
import { fact, facts, focusOn, h, page, section } from "../dom.js";
import { actionButton } from "../errors.js";
import { choice, form } from "../form.js";
import { readMe, shop, signOut } from "../store.js";
import { t } from "../words.js";
import { otpField, passwordField } from "./fields.js";

export async function show({ signal }) {
  const [me, state] = await Promise.all([readMe(), shop.account.twoFactor({}, { signal })]);
  return page(
    t("account.title"),
    facts(fact("signIn.email", me.email), fact("customer.role", t(`role.${me.role}`))),
    h("p", { class: "hint" }, t("signIn.once")),
    actionButton("account.signOut", async () => {
      await signOut();
      go("#/sign-in", { replace: true });
    }),
    section(t("twoFactor.title"), state.enabled ? whenOn(state.recovery_codes_left) : whenOff()),
  );
}

function step(old, next) {
  old.replaceWith(next);
  focusOn(next.querySelector("p"));
}

function whenOff() {
  const panel = h(
    "div",
    {},
    h("p", {}, t("twoFactor.off")),
    form(
      "twoFactor.begin",
      async (given) => step(panel, confirmStep(await shop.account.beginTwoFactor(given))),
      passwordField(),
    ),
  );
  return panel;
}

function confirmStep({ qr_svg: svg, secret }) {
  const panel = h(
    "div",
    {},
    h("p", {}, t("twoFactor.scan")),
    // An image, because markup from a reply must not become part of the page.
    h("img", { class: "qr", alt: t("twoFactor.qr"), src: `data:image/svg+xml,${encodeURIComponent(svg)}` }),
    h("p", {}, t("twoFactor.secret"), " ", h("code", {}, secret)),
    form(
      "twoFactor.confirm",
      async (given) => step(panel, codesStep((await shop.account.confirmTwoFactor(given)).recovery_codes)),
      otpField(),
    ),
  );
  return panel;
}

function codesStep(codes) {
  const panel = h(
    "div",
    {},
    h("p", {}, t("twoFactor.codes")),
    h(
      "ul",
      { class: "codes" },
      codes.map((code) => h("li", {}, h("code", {}, code))),
    ),
    actionButton("twoFactor.saved", () => step(panel, whenOn(codes.length))),
  );
  return panel;
}

function whenOn(count) {
  const changes = [
    ["codes", t("twoFactor.renew")],
    ["off", t("twoFactor.turnOff")],
  ];
  const panel = h(
    "div",
    {},
    h("p", {}, t("twoFactor.on", { count })),
    form(
      "twoFactor.change",
      async ({ change, ...proof }) => {
        if (change === "off") {
          await shop.account.disableTwoFactor(proof);
          return step(panel, whenOff());
        }
        step(panel, codesStep((await shop.account.renewRecoveryCodes(proof)).recovery_codes));
      },
      choice("change", "twoFactor.what", changes, "codes"),
      passwordField(),
      otpField(),
    ),
  );
  return panel;
}
