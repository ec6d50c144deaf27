const maxLength = 300;
const longestWaitMs = 3_600_000;

/** The reason why a message did not arrive; operators see its text unchanged. */
export class DeliveryFailure extends Error {}

export class TimedOut extends DeliveryFailure {
  constructor(ms: number) {
    super(`no answer within ${ms / 1000} s`);
  }
}

export function describeFailure(error: unknown): string {
  if (error instanceof DeliveryFailure) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  return `${code ?? "failed"}: ${message}`.slice(0, maxLength);
}

/** Whether the receiver is down. A refusal (4xx, a redirect) may concern one message only. */
export function isDown(status: number | null): boolean {
  return status === null || status >= 500 || status === 429 || status === 408;
}

/** Milliseconds that a receiver asks to wait with status 429 or 503: 0 to an hour. @param now epoch milliseconds. */
export function readRetryAfter(answer: { status: number; retryAfter: string | undefined }, now: number): number {
  if (answer.status !== 429 && answer.status !== 503) return 0;
  const text = answer.retryAfter?.trim() ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return ms > 0 ? Math.min(ms, longestWaitMs) : 0;
}
