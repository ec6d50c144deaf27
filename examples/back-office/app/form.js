import { h, translate } from "./dom.js";
import { explain, explainField, nameFault } from "./errors.js";
import { amountText, readAmount, t } from "./words.js";

const kinds = {
  // The decimal sign can be a point or a comma.
  amount: { inputmode: "decimal", pattern: "[0-9]+([.,][0-9]+)?", autocomplete: "off" },
  whole: { inputmode: "numeric", pattern: "[0-9]+", autocomplete: "off" },
};
let count = 0;

/** Puts a control into a field with a label, a hint, and a place for its error. */
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

/** Creates a field that is in no template. `attributes` are those of the input. */
export function field(label, { kind, hint, ...attributes }) {
  const input = h("input", { type: "text", "data-kind": kind, ...kinds[kind], ...attributes });
  return addLabel(input, label, hint);
}

/** Creates a field with a choice. @param options pairs of value and text. */
export function choice(name, label, options, value) {
  const draw = ([one, text]) => h("option", { value: one, selected: one === value }, text);
  return addLabel(h("select", { name }, options.map(draw)), label);
}

/**
 * Creates a form from the template with this id. `values` fill its fields and its texts; `slots` replace elements of
 * the template. `submit` gets the values of the fields. Its errors are shown beside the fields.
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

export function omit(root, ...names) {
  for (const name of names) root.elements[name].closest(".field, .choice").remove();
}

/** Reads the fields of a form: numbers, trimmed texts, null for empty fields, and booleans for checkboxes. */
function readForm({ elements }) {
  const values = {};
  for (const { name, type, value, checked, dataset } of elements) {
    if (!name) continue;
    const text = type === "password" ? value : value.trim() || null;
    values[name] = type === "checkbox" ? checked : dataset.kind ? readAmount(text) : text;
  }
  return values;
}

/** Returns the values that are not empty. */
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

/** Shows details of an error beside their fields. Returns a sentence for each detail whose field the form lacks. */
function markFields({ elements }, details) {
  const others = [];
  for (const detail of details) {
    // A path such as that of a rate's price ends with the name of the field, others begin with it.
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

/** Marks forms that have unsaved changes. */
export function watchChanges() {
  for (const name of ["input", "change"]) {
    addEventListener(name, ({ target }) => {
      const root = target.closest("form");
      if (root) root.dataset.changed = "";
    });
  }
}

/** Finds forms with unsaved changes. Narrow pages, such as the sign-in, can be left without a question. */
const findChanged = () => document.querySelectorAll(".page:not(.narrow) .form[data-changed]");

export const hasChanges = () => findChanged().length > 0;

/** Returns whether the page may be left. If there are unsaved changes, the user is asked. */
export function mayLeave() {
  if (hasChanges() && !confirm(t("form.leave"))) return false;
  for (const root of findChanged()) delete root.dataset.changed;
  return true;
}

/** Creates a part of a page that opens at a click. */
export const fold = (title, ...children) => h("details.fold", h("summary", title), children);
