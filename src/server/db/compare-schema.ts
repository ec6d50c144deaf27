import { buildSchema, type SchemaObject } from "./build-schema.ts";
import { migrations } from "./migrate.ts";

export interface SchemaFault {
  kind: "missing" | "altered" | "foreign";
  object: SchemaObject;
}

/** Whether all migrations before the last applied one are applied. Otherwise the expected schema is unknown. */
export function isWithoutGaps(applied: ReadonlySet<string>): boolean {
  return migrations.slice(0, applied.size).every(({ name }) => applied.has(name));
}

/**
 * Returns how a schema differs from the one that the applied migrations create.
 * @param present the rows of `selectSchema`.
 * @param applied names of known migrations, without gaps.
 */
export async function compareSchema(present: readonly SchemaObject[], applied: ReadonlySet<string>) {
  const found = indexObjects(present);
  const expected = indexObjects(await buildSchema(migrations.filter(({ name }) => applied.has(name))));
  const faults: SchemaFault[] = [];
  for (const [key, object] of expected) {
    const other = found.get(key);
    if (other === undefined) {
      // If a table is missing, its indexes and triggers are missing too. Only the table is then reported.
      if (object.type === "table" || found.has(keyOf({ type: "table", name: object.table }))) {
        faults.push({ kind: "missing", object });
      }
    } else if (!isSame(object, other, expected)) faults.push({ kind: "altered", object: other });
  }
  const foreign = present.filter((object) => !expected.has(keyOf(object)));
  return [...faults, ...foreign.map((object) => ({ kind: "foreign" as const, object }))];
}

/** Names an object for people, such as "index orders_by_status of orders". */
export function nameObject({ type, name, table }: SchemaObject): string {
  return `${type} ${name}${type === "index" || type === "trigger" ? ` of ${table}` : ""}`;
}

function indexObjects(objects: readonly SchemaObject[]) {
  return new Map(objects.map((one) => [keyOf(one), one]));
}

/** Returns a key for an object. The type is a part of the key, because a trigger may have the name of a table. */
function keyOf({ type, name }: Pick<SchemaObject, "type" | "name">): string {
  return `${type} ${name}`;
}

function isSame(one: SchemaObject, found: SchemaObject, expected: ReturnType<typeof indexObjects>): boolean {
  const owner = expected.get(keyOf({ type: "table", name: one.name.replace(/_[a-z]+$/, "") }));
  // SQLite itself creates the tables behind a virtual table. Their SQL depends on its version, so it is not compared.
  const isMadeByEngine = owner && owner.name !== one.name && /^CREATE VIRTUAL TABLE/i.test(owner.sql);
  return one.table === found.table && (isMadeByEngine || normalize(one.sql) === normalize(found.sql));
}

function normalize(sql: string): string {
  return sql.replace(/\s+/g, " ").replace(/;\s*$/, "").trim();
}
