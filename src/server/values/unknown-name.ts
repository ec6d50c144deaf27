import { type AppError, conflict, notFound } from "../errors.ts";
import { suggestWord } from "./closest-match.ts";

/** Maximum number of names compared with an unknown one: a store may have millions of users. */
export const maxCompared = 2000;

interface Others {
  /** Names that exist, in the same store. */
  names: Iterable<string>;
  /** The command that lists them. */
  list: string;
  /** The namespace they belong to. */
  store?: string;
}

/** The notFound error about a name, with the most similar one and the command that lists all. */
export function unknownName(thing: string, given: string, { names, list, store }: Others): AppError {
  const meant = suggestWord(given, names);
  const hint = meant === undefined ? "" : `Did you mean ${quoteName(meant)}? `;
  const place = store === undefined ? {} : { in: `store ${JSON.stringify(store)}` };
  return notFound(thing, given, { ...place, remedy: `${hint}List them all: ${list}` });
}

/** The conflict error about a name that several records have. */
export function ambiguousName(message: string, ids: readonly string[]): AppError {
  return conflict(message, { remedy: `Name one by its id: ${ids.join(", ")}` });
}

function quoteName(name: string): string {
  return /^[\w@.+:/*-]+$/.test(name) ? name : JSON.stringify(name);
}
