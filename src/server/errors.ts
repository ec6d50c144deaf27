/** HTTP status, process exit code, public message and remedy of each numeric error code (specification, section 7). */
const table = {
  5000: { status: 500, exit: 1, message: "Internal error.", remedy: "Try again; if it stays, report the request_id." },
  5001: { status: 503, exit: 4, message: "Temporarily unavailable.", remedy: "Try again shortly." },
  5100: { status: 400, exit: 2, message: "Malformed request.", remedy: "Correct the request as the message says." },
  5101: {
    status: 400,
    exit: 2,
    message: "`namespace` is missing.",
    remedy: "Send `namespace` in the query or the body.",
  },
  5102: { status: 422, exit: 2, message: "Validation failed.", remedy: "Correct the fields listed in `details`." },
  5103: {
    status: 415,
    exit: 2,
    message: "Unsupported media type.",
    remedy: "Send the body as uncompressed `application/json` in UTF-8.",
  },
  5104: { status: 413, exit: 2, message: "The body is too large.", remedy: "Send a smaller body." },
  5105: { status: 405, exit: 2, message: "Method not allowed.", remedy: "Use one of the methods in `Allow`." },
  5106: { status: 404, exit: 3, message: "No such route.", remedy: "See /openapi.json for all routes." },
  5107: { status: 429, exit: 4, message: "Too many requests.", remedy: "Wait as long as `Retry-After` says." },
  5202: {
    status: 400,
    exit: 2,
    message: "Invalid app credential params.",
    remedy: "Send `app_id`, `app_secret` and `namespace`, all valid.",
  },
  5203: {
    status: 401,
    exit: 1,
    message: "App authentication failed.",
    remedy: "Check the secret, and that the key is active and published.",
  },
  5204: {
    status: 400,
    exit: 2,
    message: "Invalid token params.",
    remedy: "Send `token`, `user_id` and `namespace`.",
  },
  5205: { status: 401, exit: 1, message: "Token not found or mismatch.", remedy: "Sign in again for a new token." },
  5206: {
    status: 401,
    exit: 1,
    message: "Authentication failed: no method succeeded.",
    remedy: "Send app credentials or a user token.",
  },
  5207: { status: 401, exit: 1, message: "The token is expired or revoked.", remedy: "Refresh the token or sign in." },
  5209: {
    status: 429,
    exit: 4,
    message: "Too many authentication attempts from this address.",
    remedy: "Wait as long as `Retry-After` says.",
  },
  5211: { status: 401, exit: 1, message: "A two-factor code is required.", remedy: "Repeat the login with `otp`." },
  5212: { status: 401, exit: 1, message: "Invalid email, password or one-time code.", remedy: undefined },
  5213: {
    status: 429,
    exit: 4,
    message: "Too many attempts.",
    remedy: "Wait as long as `Retry-After` says; for a reset, request a new code.",
  },
  5214: { status: 401, exit: 1, message: "The user token is invalid, expired or revoked.", remedy: "Log in again." },
  5215: { status: 404, exit: 3, message: "Store not found.", remedy: "Check `namespace`." },
  5216: {
    status: 400,
    exit: 1,
    message: "The reset code is invalid, used or expired.",
    remedy: "Request a new code.",
  },
  5217: {
    status: 422,
    exit: 2,
    message: "The password is too weak.",
    remedy: "Use at least 16 characters with lowercase, uppercase, digit and special character.",
  },
  5300: { status: 403, exit: 1, message: "Not permitted.", remedy: "Use credentials that may do this." },
  5301: { status: 404, exit: 3, message: "Not found.", remedy: "Check the id." },
  5302: { status: 409, exit: 4, message: "Conflict with what exists.", remedy: "Change the value and try again." },
  5303: {
    status: 412,
    exit: 4,
    message: "The record has changed since you read it.",
    remedy: "Read it again and repeat the change.",
  },
  5304: { status: 409, exit: 4, message: "Out of stock.", remedy: "Order fewer, or another item." },
  5305: { status: 409, exit: 4, message: "Not enough points.", remedy: "Use fewer points." },
  5306: { status: 409, exit: 4, message: "Not possible in the present state.", remedy: "Read the record's state." },
  5307: {
    status: 409,
    exit: 4,
    message: "This idempotency key belongs to another request.",
    remedy: "Send a new `Idempotency-Key`.",
  },
} as const satisfies Record<
  number,
  { status: number; exit: 1 | 2 | 3 | 4; message: string; remedy: string | undefined }
>;

/** One of the numeric codes of the table. */
export type ErrorCode = keyof typeof table;

/** One field at fault, named by its path in the body or query (`price`, `images.0.url`). */
export interface FieldError {
  field: string;
  message: string;
}

interface AppErrorOptions {
  details?: FieldError[];
  /** What to do about this very failure, where that says more than the code's own remedy. */
  remedy?: string | undefined;
  /** Exit code of a command that ends with this very failure, where it is not that of the code. */
  exit?: 1 | 2 | 3 | 4;
  /** Seconds until a repeat can succeed; becomes `Retry-After`. */
  retryAfter?: number;
  /** Other headers that the reply needs, such as `Allow`. */
  headers?: Record<string, string>;
  cause?: unknown;
}

/**
 * The only error that the product throws on purpose. Its message is public: it must hold no secret, SQL or path of the
 * source. Everything else that is thrown is answered as 5000 without its message.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: FieldError[] | undefined;
  readonly remedy: string | undefined;
  /** Exit code of a command that ends with it: 1 failed, 2 usage, 3 not found, 4 conflict or busy. */
  readonly exit: 1 | 2 | 3 | 4;
  readonly retryAfter: number | undefined;
  readonly headers: Record<string, string> | undefined;

  constructor(code: ErrorCode, message: string = table[code].message, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.details = options.details;
    this.remedy = options.remedy;
    this.exit = options.exit ?? table[code].exit;
    // A client that may not write headers still needs to know when 503 is worth a repeat.
    this.retryAfter = options.retryAfter ?? (code === 5001 ? 1 : undefined);
    this.headers = options.headers;
  }
}

/** A 5102 about exactly one field. */
export function invalidField(field: string, message: string): AppError {
  return new AppError(5102, `${field}: ${message}`, { details: [{ field, message }] });
}

/** HTTP status that goes with a code. */
export function statusOf(code: ErrorCode): number {
  return table[code].status;
}

/** The sentence that says what a caller can do about a code, where there is one. */
export function remedyOf(code: ErrorCode): string | undefined {
  return table[code].remedy;
}

/** The code's meaning in general, as the API description lists it. */
export function meaningOf(code: ErrorCode): string {
  return table[code].message;
}

/** All codes, ascending. */
export const errorCodes = Object.keys(table).map(Number) as ErrorCode[];
