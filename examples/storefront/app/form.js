import { focusOn, slot, take, toast } from "./dom.js";
import { explain, onClick } from "./errors.js";
import { config } from "./shop.js";
import { t } from "./words.js";

export function onSubmit(content, submit) {
  const form = slot(content, "form");
  const fault = form.querySelector(".form-fault");
  form.addEventListener("input", ({ target }) => {
    if (target.ariaInvalid === "true") checkField(target);
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

/** Reads the fields, without spaces at the ends of their texts. Passwords keep theirs. */
function readForm(form, submitter) {
  const values = {};
  for (const [name, value] of new FormData(form, submitter)) {
    const spaces = /^(otp|code)$/.test(name) ? /\s/g : /^\s+|\s+$/g;
    const text = /password$/.test(name) ? value : value.replace(spaces, "");
    if (text) values[name] = text;
  }
  return values;
}

function checkFields(form) {
  const controls = [...form.elements].filter(({ id }) => id);
  const [wrong] = controls.filter((control) => !checkField(control));
  wrong?.focus();
  return !wrong;
}

export function checkField(control) {
  const { valid, valueMissing, typeMismatch } = control.validity;
  mark(control, valid ? null : valueMissing ? "form.missing" : typeMismatch ? "form.noEmail" : "form.check");
  return valid;
}

function mark(control, word) {
  const fault = document.getElementById(`${control?.id}-fault`);
  if (!fault) return;
  fault.textContent = word ? t(word) : "";
  control.ariaInvalid = String(Boolean(word));
}

export function newPassword() {
  const field = take("password-field");
  const input = field.querySelector("input");
  slot(field, "suggest").onclick = () => {
    Object.assign(input, { type: "text", value: makePassword() });
    input.dispatchEvent(new Event("input", { bubbles: true }));
    toast(t("form.suggested"));
  };
  return field;
}

/** Without characters that look alike, such as 0 and O. */
const letters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";

function makePassword() {
  const random = [...crypto.getRandomValues(new Uint32Array(25))].map((number) => letters[number % letters.length]);
  const text = random.join("").replace(/.{5}\B/g, "$&-");
  return /[a-z]/.test(text) && /[A-Z]/.test(text) && /\d/.test(text) ? text : makePassword();
}

export function nextStep(old, step) {
  old.replaceWith(step);
  const heading = step.querySelector("h1, h2");
  focusOn(heading);
  heading.scrollIntoView({ block: "nearest" });
}

/** A demo shows its mail on a page. */
export const mailNote = (word = "code.demo") =>
  config.mail && take("mail-note", { text: t(word), link: { href: config.mail } });

export function resendButton(send) {
  const root = take("resend");
  const button = slot(root, "resend");
  onClick(button, () => send().then(() => toast(t("code.resent"))));
  return root;
}
