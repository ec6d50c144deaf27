import { type TProperties, Type } from "@sinclair/typebox";
import { type SQL, sql } from "drizzle-orm";
import type { Ctx, SystemCtx } from "../../context.ts";
import { get, param, run, statement } from "../../db/statement.ts";
import { type AppError, invalidField, notFound, wrongState } from "../../errors.ts";
import { requireText } from "../../values/fields.ts";
import { lineForm, output, textUpTo } from "../../values/schema.ts";
import { isId } from "../../values/stamps.ts";
import { products } from "../catalogue/products/table.ts";
import { tenants } from "../tenants/table.ts";
import { refuseSubject } from "../visitors/actor.ts";
import { resourceCounts, resourceTypes } from "./table.ts";

type ResourceSql = Record<"tenantId" | "type" | "id", SQL>;

const placeholders: ResourceSql = { tenantId: param("tenantId"), type: param("type"), id: param("resourceId") };

const nameForm = /^[a-z][a-z0-9_-]{0,39}$/;
const maxId = 128;
/** For each declared type, at most this many resources get counts, because anyone can name new resources. */
const maxDeclared = 100_000;
const declared = ({ tenantId, type }: Pick<ResourceSql, "tenantId" | "type">) =>
  sql`from ${resourceTypes} t where t.tenant_id = ${tenantId} and t.name = ${type}`;

/** A product, or a resource of a type that the store has declared. Resources of such types are stored elsewhere. */
export interface Resource {
  type: string;
  id: string;
}

export const resourceParts = {
  resource_type: textUpTo(40, "`product`, or a type that the store declared.", { form: { pattern: nameForm.source } }),
  resource_id: textUpTo(maxId, "Id of the resource, such as `prod_…`.", { form: lineForm }),
};

const maxRead = 100;
export const resourceIds = Type.Array(resourceParts.resource_id, {
  minItems: 1,
  maxItems: maxRead,
  description: `Repeat the parameter for several resources, at most ${maxRead}.`,
});

/** The schema of a list in a reply, which omits resources that do not exist. */
export function namedList<P extends TProperties>($id: string, state: P) {
  return Type.Array(output($id, { resource_id: resourceParts.resource_id, ...state }));
}

/** SQL condition: the row is about this resource of the store. Its id is the parameter `resourceId` by default. */
export function ofResource(id = placeholders.id): SQL {
  const { tenantId, type } = placeholders;
  return sql`tenant_id = ${tenantId} and resource_type = ${type} and resource_id = ${id}`;
}

/** SQL for the resource that a row names with `tenant_id`, `resource_type` and `resource_id`. */
export function resourceOf(alias: string): ResourceSql {
  const column = (name: string) => sql.raw(`${alias}.${name}`);
  return { tenantId: column("tenant_id"), type: column("resource_type"), id: column("resource_id") };
}

/** SQL condition: the resource exists and is public. */
export function isShown(of: Partial<ResourceSql> = {}): SQL {
  const { tenantId, type, id } = { ...placeholders, ...of };
  return sql`case when ${type} = 'product' then exists (select 1 from ${products}
      where tenant_id = ${tenantId} and id = ${id} and status = 'published' and deleted_at is null)
    else exists (select 1 ${declared({ tenantId, type })}) end`;
}

/** SQL condition: the resource has counts already, or the store has room for those of one more resource. */
export function hasRoom(of: Partial<ResourceSql> = {}): SQL {
  const { tenantId, type, id } = { ...placeholders, ...of };
  return sql`(${type} = 'product' or exists (select 1 ${declared({ tenantId, type })}
    and (t.resources < ${sql.raw(String(maxDeclared))} or exists (select 1 from ${resourceCounts} c
      where c.tenant_id = ${tenantId} and c.resource_type = ${type} and c.resource_id = ${id}))))`;
}

/** `subject`, the `user_id` that an app key sent, is refused. */
type ResourceCall = Partial<Record<"resource_type" | "subject", string | undefined>>;

/** Parses a resource, which need not exist. Errors: validationFailed; notFound for a malformed product id. */
export function parseResource(call: ResourceCall & { resource_id: string }): Resource {
  const { resource_type: type, resource_id: id, subject } = call;
  refuseSubject(subject);
  if (type === undefined) throw invalidField("resource_type", "is required");
  if (type === "product") {
    if (!isId("prod", id)) throw notFound("resource");
    return { type, id };
  }
  return { type: parseTypeName(type), id: requireText("resource_id", id, maxId) };
}

export function parseResources(call: ResourceCall, ids: readonly string[]): Resource[] {
  refuseSubject(call.subject);
  const wanted = [...new Set(ids)].filter((id) => call.resource_type !== "product" || isId("prod", id));
  return wanted.map((id) => parseResource({ ...call, resource_id: id }));
}

function parseTypeName(name: string): string {
  if (!nameForm.test(name) || name === "product") throw unknownType();
  return name;
}

const selectType = statement(sql`select exists (select 1 ${declared(placeholders)}) as isDeclared`);

export async function requireType({ db, tenant }: Pick<Ctx, "db" | "tenant">, type: string): Promise<void> {
  if (type === "product") return;
  if (!(await get(db, selectType, { tenantId: tenant.id, type }))?.isDeclared) throw unknownType();
}

export function noSuchResource({ type, id }: Resource): AppError {
  return type === "product" ? notFound(type, id) : unknownType();
}

function unknownType(): AppError {
  return invalidField("resource_type", "must be product, or a type that the store has declared");
}

const maxTypes = 20;
const tenantId = sql`(select id from ${tenants} where namespace = ${param("namespace")})`;
const declareType = statement(sql`
  insert into ${resourceTypes} (tenant_id, name) select ${tenantId}, ${param("name")}
  where (select count(*) from ${resourceTypes} where tenant_id = ${tenantId} and name <> ${param("name")})
    < ${sql.raw(String(maxTypes))}
  on conflict (tenant_id, name) do update set name = name`);
const removeType = statement(sql`
  delete from ${resourceTypes} where tenant_id = ${tenantId} and name = ${param("name")} and resources = 0`);

export interface TypeChanges {
  declare: readonly string[];
  remove: readonly string[];
}

export async function changeTypes(tx: SystemCtx, namespace: string, { declare, remove }: TypeChanges): Promise<void> {
  for (const name of remove) {
    if ((await run(tx.db, removeType, { namespace, name })) > 0) continue;
    throw wrongState(`Store "${namespace}" has no type ${name}, or its resources have likes, bookmarks or views.`);
  }
  for (const name of declare) {
    if ((await run(tx.db, declareType, { namespace, name: parseTypeName(name) })) > 0) continue;
    throw wrongState(`Store "${namespace}" has ${maxTypes} resource types, the maximum.`);
  }
}
