import { routes } from "../api/routes.ts";
import type { Access, Route } from "../http/route.ts";
import type { LocalRequest } from "./local-api.ts";

const isForStaff = (access: Access) => access.kind === "app" || (access.kind === "token" && access.role === "staff");

/** Omits keywords of schemas that only this program understands. */
const withoutOwnWords = (key: string, value: unknown) => (["$id", "form", "expects"].includes(key) ? undefined : value);

/** Whether a client should ask before a call: it does more than read a record or add one. */
const isDestructive = ({ id, method }: Route) => method !== "GET" && !/^(?:create|add)/.test(id);

/** Describes a route of the API as a tool. The tool's arguments are the parameters of path and query, and `body`. */
function describeTool(route: Route) {
  const { id, method, summary, params, query, body } = route;
  const schemas = [params, query].flatMap((schema) => schema ?? []);
  const required = [...schemas.flatMap((schema) => schema.required ?? []), ...(body ? ["body"] : [])];
  const properties = Object.assign({}, ...schemas.map(({ properties }) => properties), body && { body });
  const inputSchema = {
    type: "object",
    properties: JSON.parse(JSON.stringify(properties, withoutOwnWords)),
    required,
    additionalProperties: false,
  };
  return {
    name: id,
    description: `${summary}.`,
    inputSchema,
    annotations: { readOnlyHint: method === "GET", destructiveHint: isDestructive(route), openWorldHint: false },
  };
}

/** Returns a tool for each route that staff or app keys may call. Routes that write need `mayWrite`. */
export function createTools(mayWrite: boolean) {
  const offered = routes.filter(({ method, path, access, upload, reply, signed }) => {
    const isJson = upload === undefined && signed === undefined && reply.type === undefined;
    return isJson && !path.startsWith("/auth/") && access.some(isForStaff) && (mayWrite || method === "GET");
  });
  return {
    list: offered.map(describeTool),
    /** Returns the request that calls a tool; undefined if the tool is not offered. */
    requestOf(name: unknown, given: Readonly<Record<string, unknown>>): LocalRequest | undefined {
      const route = offered.find(({ id }) => id === name);
      if (route === undefined) return undefined;
      const { body, ...rest } = given;
      const inPath = new Set(Object.keys(route.params?.properties ?? {}));
      const path = route.path.replace(/:(\w+)/g, (_, key: string) => encodeURIComponent(String(rest[key] ?? "")));
      const query = new URLSearchParams();
      for (const [key, value] of Object.entries(rest).filter(([key]) => !inPath.has(key))) {
        query.append(key, typeof value === "string" ? value : JSON.stringify(value));
      }
      return { method: route.method, path: `${path}?${query}`, body: body as object | undefined };
    },
  };
}
