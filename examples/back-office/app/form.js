import { h } from "./dom.js";
import { explain } from "./errors.js";
import { t } from "./words.js";

let count = 0;

/** Attributes of a field for an amount: both decimal signs are accepted. */
export const amount = { inputmode: "decimal", pattern: "[0-9]+([.,][0-9]+)?", autocomplete: "off" };
export const whole = { inputmode: "numeric", pattern: "[0-9]+", autocomplete: "off" };

function labelled(name, control, word, hint) {
  count += 1;
  control.id = `field-${count}`;
  control.name = name;
  control.setAttribute("aria-describedby", `${control.id}-fault`);
  return h(
    "div",
    { class: "field" },
    h("label", { for: control.id }, t(word)),
    control,
    hint && h("p", { class: "hint" }, hint),
    h("p", { class: "fault", id: `${control.id}-fault` }),
  );
}

/** A field with a label. `attributes` are those of the input. */
export function field(name, word, { hint, ...attributes } = {}) {
  return labelled(name, h("input", { type: "text", ...attributes }), word, hint);
}

export function area(name, word, value, attributes = {}) {
  return labelled(name, h("textarea", { rows: 3, ...attributes }, value ?? ""), word);
}

/** @param options pairs of value and text. */
export function choice(name, word, options, value) {
  const list = options.map(([one, text]) => h("option", { value: one, selected: one === value }, text));
  return labelled(name, h("select", {}, list), word);
}

export function check(name, word, attributes = {}) {
  return h("label", { class: "choice" }, h("input", { type: "checkbox", name, ...attributes }), h("span", {}, t(word)));
}

/** A form whose button says what it does. `submit` gets the fields by name; its errors are shown beside them. */
export function form(word, submit, ...children) {
  const fault = h("p", { class: "fault form-fault", role: "alert" });
  const button = h("button", { type: "submit", class: "button" }, t(word));
  const root = h("form", { class: "form", novalidate: true }, children, fault, button);
  root.addEventListener("submit", async (event) => {
    event.preventDefault();
    fault.textContent = "";
    if (root.ariaBusy || !checkFields(root)) return;
    root.ariaBusy = "true";
    try {
      await submit(readForm(root, event.submitter), root);
    } catch (error) {
      fault.textContent = explain(error);
      for (const { field: path } of error.details ?? []) mark(root.elements[path.split(".").at(-1)], "form.check");
      root.querySelector('[aria-invalid="true"]')?.focus();
    } finally {
      root.ariaBusy = null;
    }
  });
  return root;
}

/** Reads the fields, without spaces at the ends of their texts. Passwords keep theirs. */
function readForm(root, submitter) {
  const values = {};
  for (const [name, value] of new FormData(root, submitter)) {
    if (typeof value === "string") values[name] = /password$/.test(name) ? value : value.trim();
  }
  return values;
}

function checkFields(root) {
  const controls = [...root.elements].filter(({ id }) => id);
  const wrong = controls.filter((control) => {
    const { valid, valueMissing } = control.validity;
    mark(control, valid ? null : valueMissing ? "form.missing" : "form.check");
    return !valid;
  });
  wrong[0]?.focus();
  return wrong.length === 0;
}

function mark(control, word) {
  const fault = document.getElementById(`${control?.id}-fault`);
  if (!fault) return;
  fault.textContent = word ? t(word) : "";
  control.ariaInvalid = String(Boolean(word));
}

/** A part of a page that a summary opens, for an action that is not always needed. */
export function fold(word, ...children) {
  return h("details", { class: "fold" }, h("summary", {}, t(word)), ...children);
}
