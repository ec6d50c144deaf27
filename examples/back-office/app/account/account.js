import { go } from "../address.js";
import { fact, facts, h, page, section } from "../dom.js";
import { actionButton } from "../errors.js";
import { form } from "../form.js";
import { replace } from "../replace.js";
import { readMe, shop, signOut } from "../store.js";
import { t } from "../words.js";

export async function show({ signal }) {
  const [me, state] = await Promise.all([readMe(), shop.account.twoFactor({}, { signal })]);
  return page(
    t("account.title"),
    facts(fact("signIn.email", me.email), fact("customer.role", t(`role.${me.role}`))),
    h("p.hint", t("signIn.once")),
    actionButton("account.signOut", async () => {
      await signOut();
      go("#/sign-in", { replace: true });
    }),
    section("twoFactor.title", state.enabled ? whenOn(state.recovery_codes_left) : whenOff()),
  );
}

function whenOff() {
  const begin = async (given) => replace(panel, confirmStep(await shop.account.beginTwoFactor(given)));
  const panel = h("div", h("p", t("twoFactor.off")), form("two-factor", begin));
  return panel;
}

function confirmStep({ qr_svg: svg, secret }) {
  const confirm = async (given) => {
    const { recovery_codes: codes } = await shop.account.confirmTwoFactor(given);
    replace(panel, codesStep(codes));
  };
  const panel = h(
    "div",
    h("p", t("twoFactor.scan")),
    // The code is shown as an image, because HTML from a reply must not become part of the page.
    h("img.qr", { alt: t("twoFactor.qr"), src: `data:image/svg+xml,${encodeURIComponent(svg)}` }),
    h("p", t("twoFactor.secret"), " ", h("code", secret)),
    form("two-factor-confirm", confirm),
  );
  return panel;
}

function codesStep(codes) {
  const list = codes.map((code) => h("li", h("code", code)));
  const saved = actionButton("twoFactor.saved", () => replace(panel, whenOn(codes.length)));
  const panel = h("div", h("p", t("twoFactor.codes")), h("ul.codes", list), saved);
  return panel;
}

function whenOn(count) {
  const change = async ({ change: wanted, ...proof }) => {
    if (wanted === "off") {
      await shop.account.disableTwoFactor(proof);
      return replace(panel, whenOff());
    }
    replace(panel, codesStep((await shop.account.renewRecoveryCodes(proof)).recovery_codes));
  };
  const panel = h("div", h("p", t("twoFactor.on", { count })), form("two-factor-change", change));
  return panel;
}
