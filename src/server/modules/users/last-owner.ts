import { AppError, wrongState } from "../../errors.ts";

const cause = Symbol("last owner");

/** Refuses a change that would leave a store without an active owner. */
export function lastOwner(): AppError {
  return wrongState("This user is the last active owner, and the store must keep one.", { cause });
}

export function isLastOwner(error: unknown): boolean {
  return error instanceof AppError && error.cause === cause;
}
