type ExitCode = 1 | 2 | 3 | 4;
type Row = readonly [code: number, status: number, message: string, remedy?: string];

/** Exit codes of commands, by HTTP status: 1 failed, 3 not found, 4 conflict or busy. Other statuses mean 2, usage. */
const exitCodes: Record<number, ExitCode> = { 401: 1, 403: 1, 404: 3, 409: 4, 412: 4, 429: 4, 500: 1, 503: 4 };

const sendParams = "Send `app_id`, `app_secret` and `namespace`, all valid.";
const wait = "Wait for the number of seconds in `Retry-After`.";
const strengthen = "Use at least 16 characters with lowercase, uppercase, digit and special character.";

/** All errors by name. The codes from 5202 to 5217 are those of the specification, section 7. */
const table = {
  internalError: [5000, 500, "Internal error.", "Try again. If the error persists, report the request_id."],
  unavailable: [5001, 503, "Temporarily unavailable.", "Try again shortly."],
  malformedRequest: [5100, 400, "Malformed request.", "Correct the request. The message says what is wrong."],
  namespaceMissing: [5101, 400, "`namespace` is missing.", "Send `namespace` in the query or in the body."],
  validationFailed: [5102, 422, "Validation failed.", "Correct the fields listed in `details`."],
  unsupportedMediaType: [5103, 415, "Unsupported media type.", "Send `application/json` in UTF-8, uncompressed."],
  bodyTooLarge: [5104, 413, "The body is too large.", "Send a smaller body."],
  methodNotAllowed: [5105, 405, "Method not allowed.", "Use one of the methods in the `Allow` header."],
  routeNotFound: [5106, 404, "Route not found.", "See /openapi.json for all routes."],
  tooManyRequests: [5107, 429, "Too many requests.", wait],
  invalidAppCredentials: [5202, 400, "Invalid app credential params.", sendParams],
  appAuthFailed: [5203, 401, "App authentication failed.", "Check the secret. The key must be active and published."],
  invalidTokenParams: [5204, 400, "Invalid token params.", "Send `token`, `user_id` and `namespace`."],
  tokenNotFound: [5205, 401, "Token not found or mismatch.", "Log in again for a new token."],
  notAuthenticated: [5206, 401, "Authentication failed: no method succeeded.", "Send app credentials or a user token."],
  tokenExpired: [5207, 401, "The token is expired or revoked.", "Refresh the token or log in again."],
  tooManyAuthAttempts: [5209, 429, "Too many authentication attempts from this address.", wait],
  twoFactorRequired: [5211, 401, "A two-factor code is required.", "Repeat the login with `otp`."],
  invalidLogin: [5212, 401, "Invalid email, password or one-time code."],
  tooManyAttempts: [5213, 429, "Too many attempts.", `${wait} For a password reset, request a new code.`],
  userTokenInvalid: [5214, 401, "The user token is invalid, expired or revoked.", "Log in again."],
  storeNotFound: [5215, 404, "Store not found.", "Check `namespace`."],
  resetCodeInvalid: [5216, 400, "The code is invalid, used or expired.", "Request a new code."],
  weakPassword: [5217, 422, "The password is too weak.", strengthen],
  forbidden: [5300, 403, "Not permitted.", "Use credentials that have the required permission."],
  notFound: [5301, 404, "Not found.", "Check the id."],
  conflict: [5302, 409, "The request conflicts with an existing record.", "Change the value and try again."],
  preconditionFailed: [5303, 412, "The record has changed since you read it.", "Read it again and repeat the change."],
  outOfStock: [5304, 409, "Out of stock.", "Order a smaller quantity or another product."],
  notEnoughPoints: [5305, 409, "Not enough points.", "Use fewer points."],
  wrongState: [5306, 409, "The record's current state does not allow this.", "Read the record and check its state."],
  idempotencyKeyReused: [5307, 409, "This idempotency key was used for another request.", "Send a new key."],
  notDelivered: [5308, 409, "The store does not deliver to this address.", "Choose another address."],
  discountRefused: [5309, 409, "The discount code does not apply.", "Order without it, or send another code."],
} as const satisfies Record<string, Row>;

export type ErrorKind = keyof typeof table;

export type ErrorCode = (typeof table)[ErrorKind][0];

const rows: Record<ErrorKind, Row> = table;

/** An invalid field, named by its path in the body or query, such as `price` or `images.0.url`. */
export interface FieldError {
  field: string;
  message: string;
  /** In a conflict: the id of the other record, if the caller may read that record. */
  id?: string | undefined;
}

export interface ErrorOptions {
  details?: FieldError[];
  /** The remedy for this error, instead of the remedy of its kind. */
  remedy?: string | undefined;
  /** Whether only the terminal and the log show the message. Replies then contain `reply`, or the message of the kind. */
  isInternal?: boolean;
  /** The message of replies, if they must not contain the message of the terminal and the log. */
  reply?: string;
  /** Exit code of a command that ends with this error. Default: the exit code of its kind. */
  exit?: ExitCode;
  /** Seconds until a retry can succeed; sent as `Retry-After`. */
  retryAfter?: number;
  headers?: Record<string, string>;
  cause?: unknown;
}

/**
 * An error that the program throws on purpose, made by one of the functions below. Unless `isInternal` is set, callers
 * see the message, so it must not contain secrets, SQL or source paths. Replies omit messages of other error classes.
 */
export class AppError extends Error {
  readonly kind: ErrorKind;
  readonly details: FieldError[] | undefined;
  readonly remedy: string | undefined;
  readonly isInternal: boolean;
  readonly reply: string | undefined;
  /** Exit code of a command that fails with this error: 1 failed, 2 usage, 3 not found, 4 conflict or busy. */
  readonly exit: ExitCode;
  readonly retryAfter: number | undefined;
  readonly headers: Record<string, string> | undefined;

  constructor(kind: ErrorKind, message: string = meaningOf(kind), options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.kind = kind;
    this.details = options.details;
    this.remedy = options.remedy;
    this.reply = options.reply;
    this.isInternal = options.isInternal ?? options.reply !== undefined;
    this.exit = options.exit ?? exitCodes[statusOf(kind)] ?? 2;
    // Every 503 should say when to retry, so the default is one second.
    this.retryAfter = options.retryAfter ?? (kind === "unavailable" ? 1 : undefined);
    this.headers = options.headers;
  }

  get code(): ErrorCode {
    return codeOf(this.kind);
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
 * Returns the error for a record that does not exist. The message of `notFound("order", id)` is `Order "ord_…" not found.`
 * @param thing the kind of record, in lower case.
 * @param id the id or name that was asked for.
 */
export function notFound(thing: string, id?: string, options: ErrorOptions & { in?: string } = {}): AppError {
  const name = `${thing.slice(0, 1).toUpperCase()}${thing.slice(1)}`;
  const named = id === undefined ? name : `${name} ${JSON.stringify(id)}`;
  return new AppError("notFound", `${named} not found${options.in === undefined ? "" : ` in ${options.in}`}.`, options);
}

/** Returns the error for invalid input. `fault` is a sentence, or the invalid fields, which the message then names. */
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

/** Returns an error that names one field: `fieldError(conflict, "email", "belongs to another user")`. */
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
export const codeOf = (kind: ErrorKind): ErrorCode => table[kind][0];
export const statusOf = (kind: ErrorKind): number => rows[kind][1];
/** Returns the message of a kind of error, which the API description also lists. */
export const meaningOf = (kind: ErrorKind): string => rows[kind][2];
export const remedyOf = (kind: ErrorKind): string | undefined => rows[kind][3];
/** Returns the name of a kind of error in replies, such as `out_of_stock`. */
export const typeOf = (kind: ErrorKind): string => kind.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
