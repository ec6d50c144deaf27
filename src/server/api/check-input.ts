import { Kind, type TObject } from "@sinclair/typebox";
import type { Ctx } from "../context.ts";
import { invalidField, malformedRequest, preconditionFailed } from "../errors.ts";
import type { Call, Route } from "../http/route.ts";
import { parseLanguage } from "../modules/tenants/input.ts";
import { validate, validateQuery } from "../values/validate.ts";
import type { Body } from "./body.ts";
import { type Common, commonParameters } from "./credentials.ts";

/**
 * Validates the parts of a call against the schemas of its route. Throws validationFailed, and malformedRequest for a
 * path with invalid encoding.
 */
export function checkCall(
  { route, params }: { route: Route; params: Record<string, string> },
  ctx: Ctx,
  { query, body, common }: { query: Query; body: Body | undefined; common: Common },
): Call {
  // Without a schema, the query and the body must be empty.
  if (!route.query) requireEmpty(query);
  return {
    ctx,
    params: checkParams(route, params),
    query: route.query ? validateQuery(route.query, query) : {},
    body: checkBody(route, body?.value),
    lang: common.lang === undefined ? undefined : parseLanguage("lang", common.lang),
    subject: /^(?:app|terminal)$/.test(ctx.actor.kind) ? common.user_id : undefined,
    ifMatch: null,
  };
}

function checkParams(route: Route, params: Record<string, string>) {
  if (!route.params) return {};
  for (const name in route.params.properties) {
    // The router omits parameters that it cannot decode, so a missing parameter is malformed.
    if (params[name] == null) throw malformedRequest("The path is not valid percent-encoded UTF-8.");
  }
  return validate(route.params, params, "path");
}

function checkBody({ upload, body }: Route, value: Record<string, unknown> | undefined) {
  if (upload) return value?.file;
  return body ? validate(body, value ?? {}, "body") : requireEmpty(value);
}

function requireEmpty(given: object | undefined): void {
  for (const name in given) throw invalidField(name.slice(0, 64), "is not a known field");
}

export type Query = Record<string, string | string[]>;

const commonNames: ReadonlySet<string> = new Set(commonParameters);

/**
 * Parses the query of a URL. Throws malformedRequest for invalid percent-encoding, and for a repeated name whose schema
 * is not an array, because a proxy might use a different one of the values.
 */
export function parseQuery(url: string, schema?: TObject): { common: Common; query: Query } {
  const common: Common = {};
  // The object has no prototype, so that names such as `constructor` are safe.
  const query = Object.create(null) as Query;
  const start = url.indexOf("?");
  if (start === -1) return { common, query };
  for (const pair of url.slice(start + 1).split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = equals === -1 ? "" : decode(pair.slice(equals + 1));
    addParameter(commonNames.has(name) ? common : query, name, isArray(schema, name) ? [value] : value);
  }
  return { common, query };
}

function addParameter(query: Query, name: string, value: string | [string]): void {
  const known = query[name];
  if (known === undefined) query[name] = value;
  else if (Array.isArray(known)) known.push(...value);
  else throw malformedRequest(`The query parameter ${JSON.stringify(name.slice(0, 64))} is given more than once.`);
}

function isArray(schema: TObject | undefined, name: string): boolean {
  return schema !== undefined && Object.hasOwn(schema.properties, name) && schema.properties[name]?.[Kind] === "Array";
}

function decode(text: string): string {
  if (!text.includes("%") && !text.includes("+")) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch (cause) {
    throw malformedRequest("The query is not valid percent-encoded UTF-8.", { cause });
  }
}

const tagForm = /^(?:W\/)?"([^"]*)"$/;
/** In the ETag of a read, a suffix follows the version. */
const versionForm = /^([1-9]\d{0,14})(?:\.[a-z0-9]{13})?$/;

/**
 * Returns the version; null without the header or for `*`. A weak tag matches: proxies turn `"2"` into `W/"2"`.
 * @throws malformedRequest unless the header is `*` or one tag; preconditionFailed for a tag that Bodega never sends.
 */
export function parseIfMatch(header: string | null): number | null {
  if (header === null || header.trim() === "*") return null;
  const [, tag] = tagForm.exec(header.trim()) ?? [];
  if (tag === undefined) throw malformedRequest('If-Match must be * or one ETag, such as "3".');
  const [, version] = versionForm.exec(tag) ?? [];
  if (version === undefined) throw preconditionFailed();
  return Number(version);
}
