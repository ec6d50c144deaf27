import { malformedRequest } from "../errors.ts";

/** Query parameters by name; without a prototype, so that names such as `constructor` are safe. */
export type Query = Record<string, string>;

/**
 * Parses the query of a URL. A repeated name is refused, because two readers could use different values.
 * @throws malformedRequest for invalid percent-encoding or a repeated name.
 */
export function parseQuery(url: string): Query {
  const query = Object.create(null) as Query;
  const start = url.indexOf("?");
  if (start === -1) return query;
  const end = url.indexOf("#", start);
  const text = url.slice(start + 1, end === -1 ? undefined : end);
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    if (name in query) {
      throw malformedRequest(`The query parameter ${JSON.stringify(name.slice(0, 64))} is given more than once.`);
    }
    query[name] = equals === -1 ? "" : decode(pair.slice(equals + 1));
  }
  return query;
}

function decode(text: string): string {
  if (!text.includes("%") && !text.includes("+")) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch (cause) {
    throw malformedRequest("The query is not valid percent-encoded UTF-8.", { cause });
  }
}
