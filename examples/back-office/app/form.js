import { h, translate } from "./dom.js";
import { explain, explainField, nameFault } from "./errors.js";
import { amountText, readAmount, t } from "./words.js";

const kinds = {
  // Both decimal signs are accepted.
  amount: { inputmode: "decimal", pattern: "[0-9]+([.,][0-9]+)?", autocomplete: "off" },
  whole: { inputmode: "numeric", pattern: "[0-9]+", autocomplete: "off" },
};
let count = 0;

/** Puts a control into a field with a label, a hint, and a place for what is wrong with it. */
function addLabel(control, label, hint) {
  count += 1;
  control.id = `field-${count}`;
  control.setAttribute("aria-describedby", `${control.id}-fault`);
  const fault = h("p.fault", { id: `${control.id}-fault` });
  const name = h("label", { for: control.id }, label);
  const root = h("div.field", { hidden: control.hidden }, name, hint && h("p.hint", hint), fault);
  control.replaceWith(root);
  control.hidden = false;
  name.after(control);
  return root;
}

/** A field that no form of the page has. `attributes` are those of the input. */
export function field(label, { kind, hint, ...attributes }) {
  const input = h("input", { type: "text", "data-kind": kind, ...kinds[kind], ...attributes });
  return addLabel(input, label, hint);
}

/** @param options pairs of value and text. */
export function choice(name, label, options, value) {
  const draw = ([one, text]) => h("option", { value: one, selected: one === value }, text);
  return addLabel(h("select", { name }, options.map(draw)), label);
}

/**
 * A form that the page has as a template. `values` are those of its fields, and of its texts; `slots` are parts that
 * are not in the template. `submit` gets the values of the fields; its errors are shown beside them.
 */
export function form(id, submit, values = {}, slots = {}) {
  const root = h(
    "form",
    { class: "form", "data-form": id, novalidate: true },
    document.getElementById(id).content.cloneNode(true),
  );
  translate(root, values);
  for (const control of root.querySelectorAll("[data-field], [type=checkbox]")) {
    const { field: label, hint, kind } = control.dataset;
    for (const [name, value] of Object.entries(kinds[kind] ?? {})) control.setAttribute(name, value);
    const value = values[control.name];
    if (control.type === "checkbox") control.checked = value ?? control.checked;
    else if (value !== undefined) control.value = kind ? amountText(value) : (value ?? "");
    if (label) addLabel(control, t(label, values), hint && t(hint, values));
  }
  for (const [name, parts] of Object.entries(slots)) root.querySelector(`[data-slot=${name}]`).replaceWith(...parts);
  const fault = h("p.fault.form-fault", { role: "alert" });
  root.querySelector("[type=submit]").before(fault);
  root.addEventListener("submit", async (event) => {
    event.preventDefault();
    fault.textContent = "";
    if (root.ariaBusy || !checkFields(root)) return;
    root.ariaBusy = "true";
    delete root.dataset.changed;
    try {
      await submit(readForm(root), root);
    } catch (error) {
      root.dataset.changed = "";
      fault.textContent = [explain(error), ...markFields(root, error.details ?? [])].join(" ");
      root.querySelector('[aria-invalid="true"]')?.focus();
    } finally {
      root.ariaBusy = null;
    }
  });
  return root;
}

/** Leaves out fields that do not apply. */
export function omit(root, ...names) {
  for (const name of names) root.elements[name].closest(".field, .choice").remove();
}

/** Reads the fields: numbers, trimmed texts, null for what is empty, and whether boxes are checked. */
function readForm({ elements }) {
  const values = {};
  for (const { name, type, value, checked, dataset } of elements) {
    if (!name) continue;
    const text = type === "password" ? value : value.trim() || null;
    values[name] = type === "checkbox" ? checked : dataset.kind ? readAmount(text) : text;
  }
  return values;
}

/** The values that are not empty. */
export const given = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => (value ?? "") !== ""));

function checkFields(root) {
  const controls = [...root.elements].filter(({ id }) => id);
  const wrong = controls.filter((control) => {
    const { valid, valueMissing } = control.validity;
    mark(control, valid ? "" : t(valueMissing ? "form.missing" : "form.check"));
    return !valid;
  });
  wrong[0]?.focus();
  return wrong.length === 0;
}

/** Shows the server's details beside their fields. Returns those of fields that are not in the form. */
function markFields({ elements }, details) {
  const others = [];
  for (const detail of details) {
    // A path such as that of a price among rates ends with the name; others begin with it.
    const control = detail.field
      .split(".")
      .map((name) => elements.namedItem(name))
      .findLast((one) => one?.id);
    if (control) mark(control, explainField(detail.message));
    else others.push(nameFault(detail));
  }
  return others;
}

function mark(control, fault) {
  control.closest(".field").querySelector(".fault").textContent = fault;
  control.ariaInvalid = String(fault !== "");
  const details = control.closest("details");
  if (fault && details) details.open = true;
}

/** Notes which forms have changes that are not saved. */
export function watchChanges() {
  for (const name of ["input", "change"]) {
    addEventListener(name, ({ target }) => {
      const root = target.closest(".form");
      if (root) root.dataset.changed = "";
    });
  }
}

/** Forms of the account, such as the sign-in, can be left without a question. */
const findChanged = () => document.querySelectorAll(".page:not(.narrow) .form[data-changed]");

export const hasChanges = () => findChanged().length > 0;

/** Asks whether changes may be lost, if there are any. */
export function mayLeave() {
  if (hasChanges() && !confirm(t("form.leave"))) return false;
  for (const root of findChanged()) delete root.dataset.changed;
  return true;
}

/** A part of a page that a summary opens, for an action that is not always needed. */
export const fold = (title, ...children) => h("details.fold", h("summary", title), children);
