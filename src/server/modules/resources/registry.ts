import { type SQL, sql } from "drizzle-orm";
import { param } from "../../db/statement.ts";
import { type AppError, invalidField, notFound } from "../../errors.ts";
import { isId } from "../../values/ids.ts";
import { products } from "../products/table.ts";

/**
 * All types: the table, whose rows have `tenant_id` and `id`, and a condition of public rows, in SQL. A type with counts
 * in its own rows needs triggers, as products have.
 */
const kinds = {
  product: { idPrefix: "prod", table: sql`${products}`, isShown: sql`status = 'published' and deleted_at is null` },
} as const satisfies Record<string, { idPrefix: string; table: SQL; isShown: SQL }>;

export type ResourceType = keyof typeof kinds;

export const resourceTypes = Object.keys(kinds) as ResourceType[];

/** A record that can be liked, bookmarked and viewed. */
export interface Resource {
  type: ResourceType;
  id: string;
}

/**
 * SQL condition: the resource of a type exists and is public.
 * @param of SQL of its tenant and id; default the parameters `tenantId` and `resourceId`.
 */
export function isShown(type: ResourceType, of: { tenantId: SQL; id: SQL } = placeholders): SQL {
  const { table, isShown } = kinds[type];
  return sql`exists (select 1 from ${table} where tenant_id = ${of.tenantId} and id = ${of.id} and ${isShown})`;
}

const placeholders = { tenantId: sql`${param("tenantId")}`, id: sql`${param("resourceId")}` };

/** SQL condition: the resource of a row with `tenant_id`, `resource_type` and `resource_id` exists and is public. */
export function isRowShown(alias: string): SQL {
  const of = { tenantId: sql.raw(`${alias}.tenant_id`), id: sql.raw(`${alias}.resource_id`) };
  const each = resourceTypes.map(
    (type) => sql`(${sql.raw(`${alias}.resource_type`)} = ${sql.raw(`'${type}'`)} and ${isShown(type, of)})`,
  );
  return sql`(${sql.join(each, sql` or `)})`;
}

export function forEachType<T>(make: (type: ResourceType) => T): Record<ResourceType, T> {
  return Object.fromEntries(resourceTypes.map((type) => [type, make(type)])) as Record<ResourceType, T>;
}

/**
 * A resource by its type and id, which need not exist.
 * @throws validationFailed naming `resource_type` if it is missing or unknown, notFound for a malformed id.
 */
export function parseResource(type: string | undefined, id: string): Resource {
  if (type === undefined) throw invalidField("resource_type", "is required");
  if (!isResourceType(type)) throw invalidField("resource_type", `must be one of ${resourceTypes.join(", ")}`);
  if (!isId(kinds[type].idPrefix, id)) throw noSuchResource();
  return { type, id };
}

export function isResourceType(text: string): text is ResourceType {
  return Object.hasOwn(kinds, text);
}

/** The error for a resource that does not exist or is not public. */
export function noSuchResource(resource?: Resource): AppError {
  return notFound(resource?.type ?? "resource", resource?.id);
}
