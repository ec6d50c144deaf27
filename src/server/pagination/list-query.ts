import { type SchemaOptions, type Static, type TProperties, Type } from "@sinclair/typebox";
import { invalidField } from "../errors.ts";
import { closed, oneOf, textUpTo, whole } from "../values/schema.ts";
import { toTimestamp } from "../values/stamps.ts";
import { readTime } from "../values/units.ts";

export const defaultLimit = 20;
const maxIds = 100;
const idLength = 40;

export const optionalTime = Type.Optional(
  Type.String({
    maxLength: 40,
    form: {
      pattern:
        "^((19[89]\\d|[2-9]\\d{3})-(02-(0[1-9]|1\\d|2[0-8])|(0[13-9]|1[0-2])-(0[1-9]|[12]\\d|30)|(0[13578]|1[02])-31)" +
        "|(19(8[048]|9[26])|20([02468][048]|[13579][26]))-02-29)" +
        "(T([01]\\d|2[0-3])(:[0-5]\\d){1,2}(\\.\\d{1,9})?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d))?$",
    },
    expects: "a time such as 2026-01-31T12:00:00Z, or a date",
    examples: ["2026-01-31"],
  }),
);

export const fieldsPart = {
  fields: Type.Optional(textUpTo(1000, "Comma-separated names of the fields to return. `id` is always included.")),
};

export const listParts = {
  limit: Type.Optional(whole(1, 100, "Maximum number of records.", { default: defaultLimit })),
  cursor: Type.Optional(
    // The base64url of a JSON array that begins with a text.
    textUpTo(4000, "`page.next_cursor` of the previous page.", { form: { pattern: "^WyI[A-Za-z0-9_-]+$" } }),
  ),
  include_total: Type.Optional(Type.Boolean({ description: "Whether to return the number of matches, `page.total`." })),
  ...fieldsPart,
};

export const ListQuery = closed(listParts);
export type ListQuery = Static<typeof ListQuery>;

export const idsPart = {
  ids: Type.Optional(
    textUpTo(maxIds * (idLength + 1), `At most ${maxIds} comma-separated ids; unknown ids are ignored.`, {
      form: { pattern: `^[^,]*(,[^,]*){0,${maxIds - 1}}$` },
    }),
  ),
};

/** A leading hyphen sorts in descending order. The default is `-created_at`. */
export function sortPart<const Key extends string>(keys: readonly Key[], options: SchemaOptions = {}) {
  const values = keys.flatMap((key) => [key, `-${key}` as const]);
  return { sort: Type.Optional(oneOf(values, { default: "-created_at", ...options })) };
}

export const bounds = ["gte", "gt", "lte", "lt"] as const;
type Bound = (typeof bounds)[number];
const boundSql: Record<Bound, string> = { gte: ">=", gt: ">", lte: "<=", lt: "<" };

export function rangeParts<Name extends string, S extends TProperties[string]>(name: Name, schema: S) {
  return Object.fromEntries(bounds.map((bound) => [`${name}[${bound}]`, schema])) as Record<`${Name}[${Bound}]`, S>;
}

export function timeRangeParts<Name extends string>(name: Name) {
  return rangeParts(name, optionalTime);
}

export type RangeBound = ReturnType<typeof readRange>[number];

export function readRange<T>(
  query: Readonly<Record<string, unknown>>,
  name: string,
  read: (field: string, value: T) => string | number,
) {
  return bounds.flatMap((bound) => {
    const field = `${name}[${bound}]`;
    const value = query[field];
    return value === undefined ? [] : [{ operator: boundSql[bound], value: read(field, value as T) }];
  });
}

/** Returns the bounds of a time range, as stored texts. Throws validationFailed naming the field. */
export function readTimeRange(query: Readonly<Record<string, unknown>>, name: string): RangeBound[] {
  return readRange<string>(query, name, parseTime);
}

/** Returns a time of a query as stored text. Throws validationFailed naming the field. */
export function parseTime(field: string, given: string): string {
  // An unescaped plus sign arrives as a space, which is changed back.
  const time = readTime(given.replace(" ", "+"));
  if (time === undefined || time < 0)
    throw invalidField(field, "must be a time such as 2026-01-31T12:00:00Z, or a date");
  return toTimestamp(time);
}

/** Parses a list of ids. Omits malformed ones, which match nothing. Throws validationFailed for too many. */
export function parseIds(text: string): string[] {
  const ids = text.split(",");
  if (ids.length > maxIds) throw invalidField("ids", `must contain at most ${maxIds} ids`);
  return [...new Set(ids.map((id) => id.trim()))].filter((id) => id.length <= idLength && /^\w+$/.test(id));
}

export type Fields = ReadonlySet<string>;

/** Parses `fields`, and adds `id`; undefined means all fields. Throws validationFailed for an unknown name. */
export function parseFields(text: string | undefined, known: readonly string[]): Fields | undefined {
  return text === undefined ? undefined : new Set(["id", ...parseNames("fields", text, known)]);
}

/** Parses a comma-separated list. Throws validationFailed naming the field. */
export function parseNames(field: string, text: string, known: readonly string[]): string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.every((name) => known.includes(name))) return names;
  throw invalidField(field, `must be a comma-separated list of the names ${known.join(", ")}`);
}

export function pickFields(json: string, fields: Fields | undefined): string {
  if (fields === undefined) return json;
  const data = JSON.parse(json) as object | object[];
  const pick = (record: object) => Object.fromEntries(Object.entries(record).filter(([name]) => fields.has(name)));
  return JSON.stringify(Array.isArray(data) ? data.map(pick) : pick(data));
}
