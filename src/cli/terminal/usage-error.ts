/** One argument at fault: the flag (`--name`) or positional (`<app_id>`) as a person types it. */
export interface ArgumentFault {
  field: string;
  message: string;
}

interface UsageErrorOptions {
  /** One sentence that says what to do instead. */
  hint?: string;
  details?: ArgumentFault[];
  /** Words of the command whose help is suggested, where the command itself is unknown. */
  path?: readonly string[];
}

/** The command line itself is wrong: exit code 2, and nothing was changed. */
export class UsageError extends Error {
  readonly hint: string | undefined;
  readonly details: ArgumentFault[] | undefined;
  readonly path: readonly string[] | undefined;

  constructor(message: string, options: UsageErrorOptions = {}) {
    super(message);
    this.name = "UsageError";
    this.hint = options.hint;
    this.details = options.details;
    this.path = options.path;
  }
}

/** The user answered no or pressed ctrl-C: exit code 130. */
export class CancelledError extends Error {
  constructor() {
    super("Cancelled.");
    this.name = "CancelledError";
  }
}

/** The error for a flag with a wrong value: `--limit must be a whole number of at least 1.` */
export function invalidFlag(flag: string, message: string): UsageError {
  return new UsageError(`${flag} ${message}.`, { details: [{ field: flag, message }] });
}
