import { RefusedAddress } from "./address.ts";

const mostLength = 300;

/** The receiver has not answered in time. */
export class TimedOut extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms / 1000} s`);
  }
}

/** The signing secret was sealed with a key that the server has not any more. */
export class LostSecret extends Error {
  constructor() {
    super("its secret was sealed with another key; make a new one: bodega webhook rotate");
  }
}

/** What an answer that is no success means, for operators. */
export function describeStatus(status: number): string {
  if (status === 410) return "410: the receiver is gone for good; remove the webhook";
  if (status >= 300 && status < 400) return `${status}: redirects are not followed; give the final address`;
  return `${status}: the receiver did not accept it`;
}

/** Why there was no answer, for operators. */
export function describeFailure(error: unknown): string {
  const isOurs = error instanceof RefusedAddress || error instanceof TimedOut || error instanceof LostSecret;
  if (isOurs) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  return `${code ?? "failed"}: ${message}`.slice(0, mostLength);
}
