import { slot, take, toast } from "./dom.js";
import { act, explain } from "./errors.js";
import { config } from "./shop.js";
import { t } from "./words.js";

/**
 * Lets a form check its fields and call `submit` with their values. Errors are told at the field that is to blame, and above the
 * button. The rules of a new password are ticked off while it is typed.
 */
export function onSubmit(form, submit) {
  const fault = form.querySelector(".form-fault");
  form.addEventListener("input", ({ target }) => {
    for (const rule of target.parentElement.querySelectorAll("[data-rule]")) {
      rule.classList.toggle("is-met", new RegExp(rule.dataset.rule, "u").test(target.value));
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
      for (const { field } of error.details ?? []) mark(form.elements[field.split(".").at(-1)], "form.check");
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
    const { valid, valueMissing } = control.validity;
    mark(control, valid ? null : valueMissing ? "form.missing" : "form.noEmail");
  }
  const wrong = controls.find(({ validity }) => !validity.valid);
  wrong?.focus();
  return !wrong;
}

function mark(control, word) {
  const fault = document.getElementById(`${control?.id}-fault`);
  if (!fault) return;
  fault.textContent = word ? t(word) : "";
  control.ariaInvalid = String(Boolean(word));
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

/** A button that mails another code. */
export function resendButton(send) {
  const root = take("resend");
  const button = slot(root, "resend");
  button.addEventListener("click", () => act(button, () => send().then(() => toast(t("code.resent")))));
  return root;
}
