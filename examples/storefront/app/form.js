import { focusOn, slot, take, toast } from "./dom.js";
import { act, explain } from "./errors.js";
import { config } from "./shop.js";
import { t } from "./words.js";

/** Calls `submit` with the values of a form that is filled in. Errors are told at the field to blame, and above the button. */
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

/** Spaces around a value belong to passwords only. */
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

export function nextStep(old, step) {
  old.replaceWith(step);
  focusOn(step.querySelector("h1, h2"));
}

/** A demo sends no mail; its terminal has the code. */
export const mailNote = () => config.mail && take("mail-note", { command: config.mail });

export function resendButton(send) {
  const root = take("resend");
  const button = slot(root, "resend");
  button.addEventListener("click", () => act(button, () => send().then(() => toast(t("code.resent")))));
  return root;
}
