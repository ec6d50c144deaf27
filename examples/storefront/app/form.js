import { h, slot, take } from "./dom.js";
import { explain } from "./errors.js";
import { config } from "./shop.js";
import { t } from "./words.js";

const passwordRules = {
  length: /^.{16,}$/su,
  lower: /\p{Ll}/u,
  upper: /\p{Lu}/u,
  digit: /\d/,
  special: /[^\p{L}\d\s]/u,
};

/**
 * Lets a form check its fields and call `submit` with their values. Errors are told at the field that is to blame, and above the
 * button. A new password has its rules ticked off while it is typed.
 */
export function onSubmit(form, submit) {
  const fault = form.querySelector(".form-fault");
  form.addEventListener("input", ({ target }) => {
    for (const rule of target.parentElement.querySelectorAll("[data-rule]")) {
      rule.classList.toggle("is-met", passwordRules[rule.dataset.rule].test(target.value));
    }
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    fault.textContent = "";
    if (form.ariaBusy || !checkFields(form)) return;
    form.ariaBusy = "true";
    try {
      await submit(readForm(form, event.submitter));
    } catch (error) {
      for (const { field } of error.details ?? []) markField(form.elements[field.split(".").at(-1)], "form.check");
      fault.textContent = explain(error);
      form.querySelector('[aria-invalid="true"]')?.focus();
    } finally {
      form.ariaBusy = null;
    }
  });
}

/** What is filled in, without spaces around it, which belong to passwords only. */
function readForm(form, submitter) {
  const values = [...new FormData(form, submitter)].map(([name, value]) => [
    name,
    name === "password" ? value : value.trim(),
  ]);
  return Object.fromEntries(values.filter(([, value]) => value !== ""));
}

/** The browser knows what is wrong with a field; the words are the page's, in its language. */
function checkFields(form) {
  const controls = [...form.elements].filter(({ id }) => id);
  for (const control of controls) {
    const { valid, valueMissing, typeMismatch } = control.validity;
    markField(control, valid ? null : valueMissing ? "form.missing" : typeMismatch ? "form.noEmail" : "form.check");
  }
  const wrong = controls.find(({ validity }) => !validity.valid);
  wrong?.focus();
  return !wrong;
}

function markField(control, word) {
  if (!control?.id) return;
  const id = `${control.id}-fault`;
  const fault = document.getElementById(id) ?? control.parentElement.appendChild(h("span", { class: "fault", id }));
  fault.textContent = word ? t(word) : "";
  control.ariaInvalid = String(Boolean(word));
  const hint = control.dataset.hint ?? control.getAttribute("aria-describedby") ?? "";
  control.dataset.hint = hint;
  control.setAttribute("aria-describedby", `${hint} ${id}`.trim());
}

/** Replaces a step by the next one, and moves the focus to its heading. */
export function nextStep(old, step) {
  old.replaceWith(step);
  const heading = step.querySelector("h1, h2");
  heading.tabIndex = -1;
  heading.focus();
}

/** Where the code is: in the mail, or, in a demo that sends none, in the terminal. */
export const mailNote = () => config.mail && take("mail-note", { command: config.mail });

/** A button that mails another code; `send` may throw errors of the client. */
export function resendButton(send) {
  const root = take("resend");
  const button = slot(root, "button");
  button.addEventListener("click", async () => {
    button.disabled = true;
    slot(root, "said").textContent = await send().then(() => t("code.resent"), explain);
    button.disabled = false;
  });
  return root;
}
