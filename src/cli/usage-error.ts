/** One argument at fault: the flag (`--name`) or positional (`<app_id>`) as a person types it. */
export interface ArgumentFault {
  field: string;
  message: string;
}

interface UsageErrorOptions {
  /** What to do instead, as one sentence. */
  hint?: string;
  details?: ArgumentFault[];
}

/** The command line itself is wrong: exit code 2, and nothing was done. */
export class UsageError extends Error {
  readonly hint: string | undefined;
  readonly details: ArgumentFault[] | undefined;

  constructor(message: string, options: UsageErrorOptions = {}) {
    super(message);
    this.name = "UsageError";
    this.hint = options.hint;
    this.details = options.details;
  }
}

/** The person at the terminal said no, or pressed ctrl-C: exit code 130. */
export class CancelledError extends Error {
  constructor() {
    super("Cancelled.");
    this.name = "CancelledError";
  }
}
