import { go } from "../address.js";
import { take, toast } from "../dom.js";
import { newPassword, nextStep, onSubmit } from "../form.js";
import { shop } from "../shop.js";
import { t } from "../words.js";
import { drawPush } from "./push.js";
import { drawTwoFactor } from "./two-factor.js";

export async function show({ signal }) {
  const reads = [shop.users.me({}, { signal }), shop.account.twoFactor({}, { signal }), drawPush()];
  const [me, twoFactor, push] = await Promise.all(reads);
  const signOut = async () => {
    // The page changes first: without a session, the account page would open the sign-in page.
    go("#/");
    await shop.auth.logout().catch(console.warn);
  };
  return take("account", {
    title: me.name ? t("account.hello", { name: me.name }) : t("account.title"),
    email: me.email,
    "sign-out": { onclick: signOut },
    panels: [drawTwoFactor(twoFactor), drawPassword(), push],
  });
}

function drawPassword() {
  const panel = take("change-password", { password: newPassword() });
  onSubmit(panel, async (values) => {
    await shop.auth.changePassword(values);
    nextStep(panel, drawPassword());
    toast(t("password.done"));
  });
  return panel;
}
