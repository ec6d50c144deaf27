import { AppError } from "../errors.ts";
import { suggestWord } from "./closest-match.ts";

/** So many names are compared with one that nobody has: a store may have millions of users. */
export const mostCompared = 2000;

interface Others {
  /** Names that exist, in the same store. */
  names: Iterable<string>;
  /** The command that lists them. */
  list: string;
}

/** The error 5301 about a name that nobody has: what was most likely meant, and how to see them all. */
export function unknownName(message: string, given: string, { names, list }: Others): AppError {
  const meant = suggestWord(given, names);
  const hint = meant === undefined ? "" : `Did you mean ${quoteName(meant)}? `;
  return new AppError(5301, message, { remedy: `${hint}List them all: ${list}` });
}

/** The error 5302 about a name that several records have: only their ids tell them apart. */
export function ambiguousName(message: string, ids: readonly string[]): AppError {
  return new AppError(5302, message, { remedy: `Name one by its id: ${ids.join(", ")}` });
}

function quoteName(name: string): string {
  return /^[\w@.+:/*-]+$/.test(name) ? name : JSON.stringify(name);
}
