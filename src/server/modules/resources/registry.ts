import { type SQL, sql } from "drizzle-orm";
import { param } from "../../db/statement.ts";
import { type AppError, invalidField, notFound } from "../../errors.ts";
import { type IdPrefix, isId } from "../../values/ids.ts";
import { products } from "../products/table.ts";

/** A kind of record that can be liked, bookmarked and viewed. */
interface ResourceKind {
  idPrefix: IdPrefix;
  /** SQL of the table, whose rows have `tenant_id` and `id`. */
  table: SQL;
  /** SQL that holds for rows that anyone may see. */
  isShown: SQL;
}

/** All kinds: a line here adds one. One that shows its counts in its own rows has triggers for that, as products have. */
const kinds = {
  product: { idPrefix: "prod", table: sql`${products}`, isShown: sql`status = 'published' and deleted_at is null` },
} as const satisfies Record<string, ResourceKind>;

export type ResourceType = keyof typeof kinds;

export const resourceTypes = Object.keys(kinds) as ResourceType[];

/** Something that can be liked, bookmarked and viewed. */
export interface Resource {
  type: ResourceType;
  id: string;
}

/**
 * SQL: whether the resource of a type whose tenant and id are in `tenantId` and `id` is there for anyone to see.
 * Without these, they are the placeholders `tenantId` and `resourceId`.
 */
export function isShown(type: ResourceType, of: { tenantId: SQL; id: SQL } = placeholders): SQL {
  const { table, isShown } = kinds[type];
  return sql`exists (select 1 from ${table} where tenant_id = ${of.tenantId} and id = ${of.id} and ${isShown})`;
}

const placeholders = { tenantId: sql`${param("tenantId")}`, id: sql`${param("resourceId")}` };

/** SQL: whether the resource of a row with `tenant_id`, `resource_type` and `resource_id` is there for anyone to see. */
export function isRowShown(alias: string): SQL {
  const of = { tenantId: sql.raw(`${alias}.tenant_id`), id: sql.raw(`${alias}.resource_id`) };
  const each = resourceTypes.map(
    (type) => sql`(${sql.raw(`${alias}.resource_type`)} = ${sql.raw(`'${type}'`)} and ${isShown(type, of)})`,
  );
  return sql`(${sql.join(each, sql` or `)})`;
}

/** One value of each type, such as a statement, made once. */
export function forEachType<T>(make: (type: ResourceType) => T): Record<ResourceType, T> {
  return Object.fromEntries(resourceTypes.map((type) => [type, make(type)])) as Record<ResourceType, T>;
}

/**
 * A resource by its type and id. Says nothing about whether it is there.
 * @throws validationFailed naming `resource_type` for none or one that does not exist, notFound for what is no id of the type.
 */
export function parseResource(type: string | undefined, id: string): Resource {
  if (type === undefined) throw invalidField("resource_type", "is required");
  if (!isResourceType(type)) throw invalidField("resource_type", `must be one of ${resourceTypes.join(", ")}`);
  if (!isId(kinds[type].idPrefix, id)) throw noSuchResource();
  return { type, id };
}

/** Whether a text is one of the types. */
export function isResourceType(text: string): text is ResourceType {
  return Object.hasOwn(kinds, text);
}

/** The refusal of what is not there for the caller: draft, deleted, another store's, or never made. */
export function noSuchResource(): AppError {
  return notFound("resource");
}
