/** An error in Stripe's shape. */
export class Refusal extends Error {
  readonly status: number;
  readonly body: object;
  constructor(message: string, { param, code, status = 400 }: { param?: string; code?: string; status?: number } = {}) {
    super(message);
    this.status = status;
    this.body = { error: { type: "invalid_request_error", message, param, code } };
  }
}

export type Form = { [field: string]: string | Form | (string | Form)[] };

/** Reads Stripe's form encoding: `items[0][price]=5&expand[]=a` is `{items: [{price: "5"}], expand: ["a"]}`. */
export function readForm(text: string): Form {
  const form: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const path = name.replaceAll("]", "").split("[");
    const last = path.pop() ?? "";
    let at = form;
    for (const step of path) {
      at[step] ??= {};
      at = at[step] as typeof form;
    }
    at[last === "" ? Object.keys(at).length : last] = value;
  }
  return toLists(form) as Form;
}

function toLists(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const parts = Object.entries(value).map(([name, part]) => [name, toLists(part)] as const);
  const isList = parts.length > 0 && parts.every(([name]) => /^\d+$/.test(name));
  return isList ? parts.map(([, part]) => part) : Object.fromEntries(parts);
}
