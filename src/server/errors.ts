/** Each error by name: its numeric code (specification, section 7), HTTP status, and the exit code of a command. */
const table = {
  internalError: { code: 5000, status: 500, exit: 1 },
  unavailable: { code: 5001, status: 503, exit: 4 },
  malformedRequest: { code: 5100, status: 400, exit: 2 },
  namespaceMissing: { code: 5101, status: 400, exit: 2 },
  validationFailed: { code: 5102, status: 422, exit: 2 },
  unsupportedMediaType: { code: 5103, status: 415, exit: 2 },
  bodyTooLarge: { code: 5104, status: 413, exit: 2 },
  methodNotAllowed: { code: 5105, status: 405, exit: 2 },
  routeNotFound: { code: 5106, status: 404, exit: 3 },
  tooManyRequests: { code: 5107, status: 429, exit: 4 },
  invalidAppCredentials: { code: 5202, status: 400, exit: 2 },
  appAuthFailed: { code: 5203, status: 401, exit: 1 },
  invalidTokenParams: { code: 5204, status: 400, exit: 2 },
  tokenNotFound: { code: 5205, status: 401, exit: 1 },
  notAuthenticated: { code: 5206, status: 401, exit: 1 },
  tokenExpired: { code: 5207, status: 401, exit: 1 },
  tooManyAuthAttempts: { code: 5209, status: 429, exit: 4 },
  twoFactorRequired: { code: 5211, status: 401, exit: 1 },
  invalidLogin: { code: 5212, status: 401, exit: 1 },
  tooManyAttempts: { code: 5213, status: 429, exit: 4 },
  userTokenInvalid: { code: 5214, status: 401, exit: 1 },
  storeNotFound: { code: 5215, status: 404, exit: 3 },
  resetCodeInvalid: { code: 5216, status: 400, exit: 1 },
  weakPassword: { code: 5217, status: 422, exit: 2 },
  forbidden: { code: 5300, status: 403, exit: 1 },
  notFound: { code: 5301, status: 404, exit: 3 },
  conflict: { code: 5302, status: 409, exit: 4 },
  preconditionFailed: { code: 5303, status: 412, exit: 4 },
  outOfStock: { code: 5304, status: 409, exit: 4 },
  notEnoughPoints: { code: 5305, status: 409, exit: 4 },
  wrongState: { code: 5306, status: 409, exit: 4 },
  idempotencyKeyReused: { code: 5307, status: 409, exit: 4 },
  notDelivered: { code: 5308, status: 409, exit: 4 },
  discountRefused: { code: 5309, status: 409, exit: 4 },
} as const satisfies Record<string, { code: number; status: number; exit: 1 | 2 | 3 | 4 }>;

export type ErrorKind = keyof typeof table;

export type ErrorCode = (typeof table)[ErrorKind]["code"];

const texts: Record<ErrorKind, readonly [message: string, remedy?: string]> = {
  internalError: ["Internal error.", "Try again. If the error persists, report the request_id."],
  unavailable: ["Temporarily unavailable.", "Try again shortly."],
  malformedRequest: ["Malformed request.", "Correct the request. The message says what is wrong."],
  namespaceMissing: ["`namespace` is missing.", "Send `namespace` in the query or in the body."],
  validationFailed: ["Validation failed.", "Correct the fields listed in `details`."],
  unsupportedMediaType: ["Unsupported media type.", "Send the body as uncompressed `application/json` in UTF-8."],
  bodyTooLarge: ["The body is too large.", "Send a smaller body."],
  methodNotAllowed: ["Method not allowed.", "Use one of the methods in the `Allow` header."],
  routeNotFound: ["Route not found.", "See /openapi.json for all routes."],
  tooManyRequests: ["Too many requests.", "Wait for the number of seconds in `Retry-After`."],
  invalidAppCredentials: ["Invalid app credential params.", "Send `app_id`, `app_secret` and `namespace`, all valid."],
  appAuthFailed: ["App authentication failed.", "Check the secret, and that the key is active and published."],
  invalidTokenParams: ["Invalid token params.", "Send `token`, `user_id` and `namespace`."],
  tokenNotFound: ["Token not found or mismatch.", "Log in again for a new token."],
  notAuthenticated: ["Authentication failed: no method succeeded.", "Send app credentials or a user token."],
  tokenExpired: ["The token is expired or revoked.", "Refresh the token or log in again."],
  tooManyAuthAttempts: [
    "Too many authentication attempts from this address.",
    "Wait for the number of seconds in `Retry-After`.",
  ],
  twoFactorRequired: ["A two-factor code is required.", "Repeat the login with `otp`."],
  invalidLogin: ["Invalid email, password or one-time code."],
  tooManyAttempts: [
    "Too many attempts.",
    "Wait for the number of seconds in `Retry-After`. For a password reset, request a new code.",
  ],
  userTokenInvalid: ["The user token is invalid, expired or revoked.", "Log in again."],
  storeNotFound: ["Store not found.", "Check `namespace`."],
  resetCodeInvalid: ["The code is invalid, used or expired.", "Request a new code."],
  weakPassword: [
    "The password is too weak.",
    "Use at least 16 characters with lowercase, uppercase, digit and special character.",
  ],
  forbidden: ["Not permitted.", "Use credentials that have the required permission."],
  notFound: ["Not found.", "Check the id."],
  conflict: ["The request conflicts with an existing record.", "Change the value and try again."],
  preconditionFailed: ["The record has changed since you read it.", "Read it again and repeat the change."],
  outOfStock: ["Out of stock.", "Order a smaller quantity or another product."],
  notEnoughPoints: ["Not enough points.", "Use fewer points."],
  wrongState: ["The record's current state does not allow this.", "Read the record and check its state."],
  idempotencyKeyReused: ["This idempotency key was used for another request.", "Send a new `Idempotency-Key`."],
  notDelivered: ["The store does not deliver to this address.", "Choose another address."],
  discountRefused: ["The discount code does not apply.", "Order without it, or send another code."],
};

/** An error in a field, named by its path in the body or query (`price`, `images.0.url`). */
export interface FieldError {
  field: string;
  message: string;
  /** In a conflict: the id of the other record, if the caller may read it. */
  id?: string | undefined;
}

export interface ErrorOptions {
  details?: FieldError[];
  /** The remedy for this error, instead of the remedy of its kind. */
  remedy?: string | undefined;
  /** Whether the message is only for the terminal and the log. Replies then have `reply`, or the general message. */
  isInternal?: boolean;
  /** The message of replies if the message is internal. Default: the general message of the kind. */
  reply?: string;
  /** Exit code of a command that ends with this error. Default: the exit code of its kind. */
  exit?: 1 | 2 | 3 | 4;
  /** Seconds until a retry can succeed; sent as `Retry-After`. */
  retryAfter?: number;
  headers?: Record<string, string>;
  cause?: unknown;
}

/**
 * An error that the product throws on purpose, made by one of the named constructors below. Its message is public
 * unless `isInternal`, so it must not contain secrets, SQL or source paths. Replies omit the message of other errors.
 */
export class AppError extends Error {
  readonly kind: ErrorKind;
  readonly details: FieldError[] | undefined;
  readonly remedy: string | undefined;
  readonly isInternal: boolean;
  readonly reply: string | undefined;
  /** Exit code of a command that fails with this error: 1 failed, 2 usage, 3 not found, 4 conflict or busy. */
  readonly exit: 1 | 2 | 3 | 4;
  readonly retryAfter: number | undefined;
  readonly headers: Record<string, string> | undefined;

  constructor(kind: ErrorKind, message: string = texts[kind][0], options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.kind = kind;
    this.details = options.details;
    this.remedy = options.remedy;
    this.reply = options.reply;
    this.isInternal = options.isInternal ?? options.reply !== undefined;
    this.exit = options.exit ?? table[kind].exit;
    // A service cannot set headers, but every 503 should say when to retry, so the default is one second.
    this.retryAfter = options.retryAfter ?? (kind === "unavailable" ? 1 : undefined);
    this.headers = options.headers;
  }

  get code(): ErrorCode {
    return table[this.kind].code;
  }
}

const constructorOf = (kind: ErrorKind) => (message?: string, options?: ErrorOptions) =>
  new AppError(kind, message, options);

export const internalError = constructorOf("internalError");
export const unavailable = constructorOf("unavailable");
export const malformedRequest = constructorOf("malformedRequest");
export const namespaceMissing = constructorOf("namespaceMissing");
export const unsupportedMediaType = constructorOf("unsupportedMediaType");
export const bodyTooLarge = constructorOf("bodyTooLarge");
export const methodNotAllowed = constructorOf("methodNotAllowed");
export const routeNotFound = constructorOf("routeNotFound");
export const tooManyRequests = constructorOf("tooManyRequests");
export const invalidAppCredentials = constructorOf("invalidAppCredentials");
export const appAuthFailed = constructorOf("appAuthFailed");
export const invalidTokenParams = constructorOf("invalidTokenParams");
export const tokenNotFound = constructorOf("tokenNotFound");
export const notAuthenticated = constructorOf("notAuthenticated");
export const tokenExpired = constructorOf("tokenExpired");
export const tooManyAuthAttempts = constructorOf("tooManyAuthAttempts");
export const twoFactorRequired = constructorOf("twoFactorRequired");
export const invalidLogin = constructorOf("invalidLogin");
export const tooManyAttempts = constructorOf("tooManyAttempts");
export const userTokenInvalid = constructorOf("userTokenInvalid");
export const storeNotFound = constructorOf("storeNotFound");
export const resetCodeInvalid = constructorOf("resetCodeInvalid");
export const weakPassword = constructorOf("weakPassword");
export const forbidden = constructorOf("forbidden");
export const conflict = constructorOf("conflict");
export const preconditionFailed = constructorOf("preconditionFailed");
export const outOfStock = constructorOf("outOfStock");
export const notEnoughPoints = constructorOf("notEnoughPoints");
export const wrongState = constructorOf("wrongState");
export const idempotencyKeyReused = constructorOf("idempotencyKeyReused");
export const notDelivered = constructorOf("notDelivered");
export const discountRefused = constructorOf("discountRefused");

/**
 * The error about a record that does not exist: `notFound("order", id)` says `Order "ord_…" not found.`
 * @param thing the kind of record, in lower case.
 * @param id the id or name that was asked for.
 */
export function notFound(thing: string, id?: string, options: ErrorOptions & { in?: string } = {}): AppError {
  const name = `${thing.slice(0, 1).toUpperCase()}${thing.slice(1)}`;
  const named = id === undefined ? name : `${name} ${JSON.stringify(id)}`;
  return new AppError("notFound", `${named} not found${options.in === undefined ? "" : ` in ${options.in}`}.`, options);
}

/** Invalid input: a sentence, or the invalid fields, which the message names. */
export function validationFailed(fault: string | FieldError[], options: ErrorOptions = {}): AppError {
  if (typeof fault === "string") return new AppError("validationFailed", fault, options);
  const [first] = fault;
  const names = fault.slice(0, 3).map(({ field }) => field.slice(0, 64));
  const several = `Validation failed: ${names.join(", ")}${fault.length > 3 ? ", …" : ""}.`;
  const message = first && fault.length === 1 ? `${first.field}: ${first.message}` : several;
  return new AppError("validationFailed", message, { ...options, details: fault });
}

export function invalidField(field: string, message: string): AppError {
  return validationFailed([{ field, message }]);
}

/** An error about one field, which its message names: `fieldError(conflict, "email", "belongs to another user")`. */
export function fieldError(
  error: ReturnType<typeof constructorOf>,
  field: string,
  message: string,
  { id, cause }: { id?: string | undefined; cause?: unknown } = {},
): AppError {
  return error(`${field}: ${message}`, { details: [{ field, message, id }], cause });
}

export function errnoOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "unknown";
}

export const errorKinds = Object.keys(table) as ErrorKind[];
export const statusOf = (kind: ErrorKind): number => table[kind].status;
export const codeOf = (kind: ErrorKind): ErrorCode => table[kind].code;
/** The general meaning of a kind of error, as the API description lists it. */
export const meaningOf = (kind: ErrorKind): string => texts[kind][0];
export const remedyOf = (kind: ErrorKind): string | undefined => texts[kind][1];
/** The name of a kind of error in replies, such as `out_of_stock`. */
export const typeOf = (kind: ErrorKind): string => kind.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
