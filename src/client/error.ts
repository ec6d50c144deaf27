import type { components, ErrorCode, ErrorType } from "./types.generated.ts";

/** An invalid field of a request. */
export type FieldError = components["schemas"]["FieldError"];

interface Failure {
  /** `"network"` if Bodega did not reply: no connection, a timeout, or the error page of a proxy. */
  readonly code: ErrorCode | "network";
  /** The name of the code, such as `out_of_stock`. */
  readonly type: ErrorType | "network";
  readonly message: string;
  /** How to correct the request. */
  readonly remedy?: string | undefined;
  readonly details?: FieldError[] | undefined;
  /** HTTP status; undefined without a reply. */
  readonly status?: number | undefined;
  /** The id of the request, for bug reports. The server's log contains it. */
  readonly requestId?: string | undefined;
  /** Seconds until a retry can succeed. */
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

class FailedCall extends Error {
  static override readonly name = "BodegaError";

  constructor({ message, cause, ...failure }: Failure) {
    super(message, { cause });
    this.name = "BodegaError";
    Object.assign(this, failure);
  }
}

/** Errors that always name a field: a weak password, a product that is out of stock. */
type AlwaysDetailed = 5217 | 5304;
/** Errors that name fields if fields cause them. */
type SometimesDetailed = 5102 | 5302 | 5306;
/** Errors that always say when to try again. */
type Timed = 5001 | 5107 | 5209 | 5213;

interface Narrowed<Code> {
  readonly code: Code;
  readonly details: Code extends AlwaysDetailed
    ? [FieldError, ...FieldError[]]
    : Code extends SometimesDetailed
      ? FieldError[] | undefined
      : undefined;
  readonly retryAfter: Code extends Timed ? number : number | undefined;
}

/** The error of a call. `code` narrows the type: if `error.code === 5304`, `error.details` exists. */
export type BodegaError = { [C in ErrorCode | "network"]: Error & Failure & Narrowed<C> }[ErrorCode | "network"];

export const BodegaError = FailedCall as unknown as {
  new (failure: Failure): BodegaError;
  [Symbol.hasInstance](value: unknown): value is BodegaError;
};
