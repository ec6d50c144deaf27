import { AppError } from "../errors.ts";

/**
 * The version that `If-Match` demands: null without the header or with `*`. A list or a weak tag never fits, since a
 * record has one version at a time.
 * @throws AppError 5100 for a malformed header, 5303 for a tag that no record of ours can have.
 */
export function parseIfMatch(header: string | null): number | null {
  if (header === null || header.trim() === "*") return null;
  const match = /^\s*(W\/)?"([^"]*)"\s*$/.exec(header);
  if (!match) throw new AppError(5100, 'If-Match must be one ETag, such as "3", or *.');
  const [, weak, tag = ""] = match;
  if (weak || !/^[1-9]\d{0,14}$/.test(tag)) throw new AppError(5303);
  return Number(tag);
}
