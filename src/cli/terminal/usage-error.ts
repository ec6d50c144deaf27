export interface ArgumentFault {
  field: string;
  message: string;
}

interface UsageErrorOptions {
  hint?: string | undefined;
  details?: ArgumentFault[];
  /** Words of the command whose help is suggested, if the command itself is unknown. */
  path?: readonly string[];
}

/** An error in the command line: exit code 2, and nothing was changed. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly options: UsageErrorOptions;

  constructor(message: string, options: UsageErrorOptions = {}) {
    super(message);
    this.options = options;
  }
}

/** The user answered no or pressed ctrl-C: exit code 130. */
export class CancelledError extends Error {
  override readonly name = "CancelledError";

  constructor() {
    super("Cancelled.");
  }
}

export function invalidFlag(flag: string, message: string, hint?: string): UsageError {
  return new UsageError(`${flag} ${message}.`, { hint, details: [{ field: flag, message }] });
}
