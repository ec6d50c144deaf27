import { AppError, type FieldError } from "../../server/errors.ts";

interface UsageErrorOptions {
  hint?: string | undefined;
  details?: FieldError[];
  /** Words of the command whose help is suggested, if the command itself is unknown. */
  path?: readonly string[];
}

/** An error in the command line: exit code 2, and nothing was changed. */
export class UsageError extends AppError {
  readonly path: readonly string[] | undefined;

  constructor(message: string, { hint, details, path }: UsageErrorOptions = {}) {
    super("malformedRequest", message, { remedy: hint, ...(details && { details }) });
    this.path = path;
  }
}

/** The user answered no or pressed ctrl-C: exit code 130. */
export class CancelledError extends Error {
  constructor() {
    super("Cancelled.");
  }
}

export function invalidFlag(flag: string, message: string, hint?: string): UsageError {
  return new UsageError(`${flag} ${message}.`, { hint, details: [{ field: flag, message }] });
}
