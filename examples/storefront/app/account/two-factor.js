import { h, take } from "../dom.js";
import { nextStep, onSubmit } from "../form.js";
import { shop } from "../shop.js";
import { t } from "../words.js";

export function drawTwoFactor(state) {
  return state.enabled ? whenOn(state.recovery_codes_left) : whenOff();
}

function whenOff() {
  const panel = take("two-factor-off");
  onSubmit(panel, async ({ password }) => {
    nextStep(panel, confirmStep(await shop.account.beginTwoFactor({ password })));
  });
  return panel;
}

function confirmStep({ qr_svg, secret }) {
  // An image, because markup from a reply must not become part of the page.
  const panel = take("two-factor-confirm", { qr: { src: `data:image/svg+xml,${encodeURIComponent(qr_svg)}` }, secret });
  onSubmit(panel, async ({ otp }) => {
    const { recovery_codes: codes } = await shop.account.confirmTwoFactor({ otp });
    nextStep(panel, codesStep(codes));
  });
  return panel;
}

function codesStep(codes) {
  const done = { onclick: () => nextStep(panel, whenOn(codes.length)) };
  const panel = take("two-factor-codes", { codes: codes.map((code) => h("li", {}, h("code", {}, code))), done });
  return panel;
}

function whenOn(count) {
  const panel = take("two-factor-on", { state: t("twoFactor.on", { count }) });
  onSubmit(panel, async ({ change, ...proof }) => {
    if (change === "off") {
      await shop.account.disableTwoFactor(proof);
      return nextStep(panel, whenOff());
    }
    const { recovery_codes: codes } = await shop.account.renewRecoveryCodes(proof);
    nextStep(panel, codesStep(codes));
  });
  return panel;
}
