import { ignoresCredentials, type Route } from "../../src/server/http/route.ts";
import { newId } from "../../src/server/values/stamps.ts";
import type { Account } from "./account.ts";
import type { ApiReply, CallOptions } from "./client.ts";
import { makeCall, type RouteCall, type World } from "./route-calls.ts";
import type { Suite } from "./suite.ts";

/** Matches ids of all kinds of records. */
export const idForm = /\b([a-z]{2,8})_[0-9a-hjkmnp-tv-z]{26}\b/g;
const emailForm = /\b[\w.-]+@example\.com\b/g;
/** Returns the name of a route, such as `"GET /products/:id/"`. */
export const nameOf = ({ method, path }: Route) => `${method} ${path}`;

/** Returns all texts that identify a store or a person, except the emails in `told`, which the caller sent. */
export function marksIn(text: string, told = ""): Set<string> {
  const marks = [...text.matchAll(idForm), ...text.matchAll(emailForm)].map(([mark]) => mark);
  return new Set(marks.filter((mark) => !(mark.includes("@") && told.includes(mark))));
}

/** Returns the ids in a text that `marks` contains. */
export function idsAmong(text: string, marks: Set<string>): string[] {
  return [...marksIn(text)].filter((mark) => !mark.includes("@") && marks.has(mark));
}

/** Returns the same call, with ids that do not exist. */
export function twinOf(call: RouteCall): RouteCall {
  const { by: _, raw, ...rest } = call;
  const others = new Map<string, string>();
  const swap = (mark: string, make: () => string) => others.get(mark) ?? (others.set(mark, make()).get(mark) as string);
  const text = JSON.stringify(rest)
    .replace(idForm, (id, prefix) => swap(id, () => newId(prefix)))
    .replace(emailForm, (email) => swap(email, () => `nobody-${newId("usr").slice(4)}@example.com`));
  return { ...(JSON.parse(text) as RouteCall), ...(raw && { raw }) };
}

/** Returns the text of a reply without the ids in the call itself, because errors may repeat these. */
export function textWithoutEcho(call: RouteCall, { error, text }: Pick<ApiReply, "error" | "text">): string {
  const sent = JSON.stringify({ ...call, by: null });
  return error ? text.replace(idForm, (id) => (sent.includes(id) ? "(id)" : id)) : text;
}

/** Returns the content of a reply that tests compare. For a successful write, this is only the status. */
export function verdictOf(call: RouteCall, { status, error, data, page }: ApiReply): unknown {
  if (error) return { status, ...JSON.parse(textWithoutEcho(call, { error, text: JSON.stringify(error) })) };
  return call.request.startsWith("GET") ? { status, data, page } : { status };
}

/** The tables whose rows belong to a store. Their names are read once, because they are the same in each database. */
let storeTables: string[] | undefined;

/** Returns all rows of a store, as lines of text. */
export async function rowsOf({ app: { db, memory } }: Suite, { shop }: World): Promise<string[]> {
  // Writes the buffered views now, so that they are not written later.
  await memory.views.flush();
  storeTables ??= (
    await db.execute(`select t.name from sqlite_schema t, pragma_table_info(t.name) c
      where t.type = 'table' and c.name = 'tenant_id' and t.name <> 'rate_limits' order by 1`)
  ).rows.map(({ name }) => String(name));
  const sql = (name: string) =>
    `select * from "${name}" where tenant_id = (select id from tenants where namespace = ?)`;
  const queries = storeTables.map((name) => ({ sql: sql(name), args: [shop.namespace] }));
  const results = await db.batch(queries, "read");
  return results.flatMap(({ rows }, index) =>
    rows.map((row) => `${storeTables?.[index]} ${JSON.stringify(Object.values(row))}`),
  );
}

/** A caller of another store, and its changes to a call. */
export interface Stranger {
  name: string;
  send: (call: RouteCall, more?: Pick<CallOptions, "query" | "headers">) => Promise<ApiReply>;
}

export function callersOf(world: World, users: Record<string, Account>, who: string): Stranger[] {
  return Object.entries(users).map(([name, by]) => ({
    name: `${who} ${name}`,
    send: (call, more) => makeCall(world, { ...call, by }, more),
  }));
}

/** Returns the same call, without parameters that name a customer. */
export function bareOf({ query, body, ...call }: RouteCall): RouteCall {
  const without = ({ customer_id: _, ...rest }: Record<string, unknown>) => rest;
  return {
    ...call,
    ...(query && { query: without(query) as Record<string, string> }),
    ...(body && { body: without(body) }),
  };
}

/** Returns where a route accepts the parameter that names a customer, or undefined if it does not accept one. */
export function namesCustomer(route: Route): "query" | "body" | undefined {
  if (route.query && "customer_id" in route.query.properties) return "query";
  return route.body && "customer_id" in (route.body.properties ?? {}) ? "body" : undefined;
}

/** Returns the callers of another store (key, customer and owner), except those whom the route never admits. */
export function strangersOf(world: World, { access }: Route): Stranger[] {
  const { customer, owner } = world;
  const key: Stranger = {
    name: "another store's key",
    send: ({ by: _, ...call }, more) => makeCall(world, call, more),
  };
  if (ignoresCredentials(access)) return [key];
  const isFor = (...[kind, role]: ("app" | "token" | "public" | "staff")[]) =>
    access.some((way) => way.kind === kind && (way.kind !== "token" || way.role === role));
  const users = {
    ...((isFor("token") || isFor("public")) && { customer }),
    ...(isFor("token", "staff") && { owner }),
  };
  const isForKeys = isFor("app") || isFor("public");
  return [...(isForKeys ? [key] : []), ...callersOf(world, users, "another store's")];
}
