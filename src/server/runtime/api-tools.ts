import { routes } from "../api/routes.ts";
import type { Access, Route } from "../http/route.ts";
import type { LocalRequest } from "./local-api.ts";

const isForStaff = (access: Access) => access.kind === "app" || (access.kind === "token" && access.role === "staff");

/** A route of the API as a tool, whose arguments are the parameters of path and query, and the `body`. */
function describeTool(route: Route) {
  const { id, method, summary, params, query, body } = route;
  const schemas = [params, query].flatMap((schema) => schema ?? []);
  const required = [...schemas.flatMap((schema) => schema.required ?? []), ...(body ? ["body"] : [])];
  const inputSchema = {
    type: "object",
    properties: Object.assign({}, ...schemas.map(({ properties }) => properties), body && { body }),
    required,
    additionalProperties: false,
  };
  return {
    name: id,
    description: `${summary}.`,
    inputSchema,
    annotations: { readOnlyHint: method === "GET", destructiveHint: method === "DELETE", openWorldHint: false },
  };
}

/** Returns the tools for what staff and app keys may do: those that read, and with `mayWrite` those that write. */
export function createTools(mayWrite: boolean) {
  const offered = routes.filter(({ method, path, access, upload, reply, signed }) => {
    const isJson = upload === undefined && signed === undefined && reply.type === undefined;
    return isJson && !path.startsWith("/auth/") && access.some(isForStaff) && (mayWrite || method === "GET");
  });
  return {
    list: offered.map(describeTool),
    /** Returns the request of a call; undefined for a tool that is unknown or not offered. */
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
