import { AppError, malformedRequest, preconditionFailed } from "../errors.ts";

const tagForm = /^(W\/)?"([^"]*)"$/;
/** More tags than any client needs; each may cost an attempt. */
const maxTags = 10;

/**
 * The versions in `If-Match`, in its order: null without the header or with `*`. Weak and foreign tags never match.
 * @throws malformedRequest for a malformed header, preconditionFailed when none of its tags can match.
 */
export function parseIfMatch(header: string | null): number[] | null {
  if (header === null || header.trim() === "*") return null;
  const tags = header.split(",", maxTags + 1).map((tag) => tagForm.exec(tag.trim()));
  if (tags.length > maxTags || tags.includes(null)) {
    throw malformedRequest(`If-Match must be ETags, such as "3", at most ${maxTags} of them, or *.`);
  }
  const versions = new Set<number>();
  for (const [, weak, tag = ""] of tags as RegExpExecArray[]) {
    if (!weak && /^[1-9]\d{0,14}$/.test(tag)) versions.add(Number(tag));
  }
  if (versions.size === 0) throw preconditionFailed();
  return [...versions];
}

/**
 * Answers with the first matching version; an attempt with another one throws and writes nothing.
 * @throws preconditionFailed when none matches; any other error of an attempt.
 */
export async function answerFirstMatch<T>(
  versions: readonly number[] | null,
  attempt: (ifMatch: number | null) => Promise<T>,
): Promise<T> {
  if (versions === null) return attempt(null);
  for (const version of versions.slice(0, -1)) {
    try {
      return await attempt(version);
    } catch (error) {
      if (!(error instanceof AppError && error.kind === "preconditionFailed")) throw error;
    }
  }
  return attempt(versions.at(-1) as number);
}
