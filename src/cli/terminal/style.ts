const green = 32;
const yellow = 33;
const red = 31;

const stateColors: Record<string, number> = {};
const words: [number, string[]][] = [
  [green, ["active", "published", "paid", "completed", "sent", "delivered", "ok", "applied"]],
  [yellow, ["inactive", "unpublished", "disabled", "suspended", "pending", "queued", "waiting", "unpaid", "refunded"]],
  [red, ["revoked", "expired", "failed", "cancelled", "dropped", "blocked", "gone"]],
];
for (const [color, states] of words) for (const state of states) stateColors[state] = color;

/** The text in bold. */
export function bold(text: string): string {
  return `\u001b[1m${text}\u001b[22m`;
}

/** A state in its colour: green works, yellow waits or is off, red has ended; other words stay as they are. */
export function colorState(state: string): string {
  const color = stateColors[state];
  return color === undefined ? state : `\u001b[${color}m${state}\u001b[39m`;
}
