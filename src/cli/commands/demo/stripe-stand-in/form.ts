type Details = { status?: number } & Partial<Record<"type" | "param" | "code", string>>;

/** An error in Stripe's shape. */
export class Refusal extends Error {
  readonly status: number;
  readonly body: object;
  constructor(message: string, { status = 400, ...more }: Details = {}) {
    super(message);
    this.status = status;
    this.body = { error: { type: "invalid_request_error", message, ...more } };
  }
}

export type Form = { [field: string]: string | Form | (string | Form)[] };

/** Reads Stripe's form encoding: `items[0][price]=5&expand[]=a` is `{items: [{price: "5"}], expand: ["a"]}`. */
export function readForm(text: string): Form {
  const form: Form = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) {
    const path = name.replaceAll("]", "").split("[");
    let at: Record<string, unknown> = form;
    for (const [index, step] of path.entries()) {
      const next = path[index + 1];
      const empty = next !== undefined && /^\d*$/.test(next) ? [] : Object.create(null);
      const key = step === "" ? String(Object.keys(at).length) : step;
      at[key] ??= next === undefined ? value : empty;
      at = at[key] as typeof at;
    }
  }
  return form;
}
