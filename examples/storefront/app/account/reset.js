import { address, go } from "../address.js";
import { take, toast } from "../dom.js";
import { mailNote, newPassword, nextStep, onSubmit, resendButton } from "../form.js";
import { shop } from "../shop.js";
import { t } from "../words.js";

export async function show() {
  const content = take("reset");
  onSubmit(content, async ({ email }) => {
    await shop.auth.forgotPassword({ email });
    nextStep(content, codeStep(email));
  });
  return content;
}

function codeStep(email) {
  const resend = resendButton(() => shop.auth.forgotPassword({ email }));
  const content = take("reset-code", {
    lead: t("code.sent", { email }),
    mail: mailNote(),
    password: newPassword(),
    resend,
  });
  onSubmit(content, async (values) => {
    await shop.auth.resetPassword({ email, ...values });
    go(address("sign-in", { email }), { replace: true });
    toast(t("reset.done"));
  });
  return content;
}
