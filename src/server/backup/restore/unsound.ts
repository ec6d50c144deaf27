import { type AppError, validationFailed } from "../../errors.ts";

/**
 * The error for a backup or a copy that is not to be believed. The command line was right, so a command ends with 1.
 * @param remedy what to do instead, where there is something.
 */
export function unsound(message: string, { remedy, cause }: { remedy?: string; cause?: unknown } = {}): AppError {
  return validationFailed(message, { exit: 1, remedy, cause });
}
