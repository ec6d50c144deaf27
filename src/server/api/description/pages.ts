import { type TSchema, Type } from "@sinclair/typebox";
import type { ErrorKind } from "../../errors.ts";
import { output } from "../../values/schema.ts";
import { errorResponses } from "./responses.ts";
import { type Json, type Schemas, success } from "./schemas.ts";

interface SystemPage {
  id: string;
  summary: string;
  /** The schema of `data`; undefined for pages without the envelope. */
  data?: TSchema;
  type?: string;
  errors?: readonly ErrorKind[];
}

const warning = Type.Optional(Type.String({ description: "What the operator should know although the server works." }));
const health = output("Health", { status: Type.String({ description: "`ok`" }), warning });
const home = output("Home", {
  name: Type.String(),
  version: Type.String(),
  ready: Type.Boolean(),
  docs: Type.Optional(Type.String()),
  description: Type.String(),
});

export const systemPages = {
  "/": { id: "getHome", summary: "Get what this is and whether it is well; browsers get a page", data: home },
  "/docs": {
    id: "getReference",
    summary: "Get this reference as a page, unless it is switched off",
    type: "text/html",
    errors: ["routeNotFound"],
  },
  "/health/live": { id: "getLiveness", summary: "Check that the process runs", data: health },
  "/health/ready": {
    id: "getReadiness",
    summary: "Check that the server can work",
    data: health,
    errors: ["unavailable"],
  },
  "/openapi.json": { id: "getDescription", summary: "Get this description" },
  "/client.js": { id: "getClient", summary: "Get the client for JavaScript, as a module", type: "text/javascript" },
  "/client.d.ts": { id: "getClientTypes", summary: "Get the types of the client", type: "text/plain" },
  "/metrics": {
    id: "getMetrics",
    summary: "Get metrics for Prometheus, if the server has a token for them",
    type: "text/plain",
    errors: ["notAuthenticated", "routeNotFound", "unavailable"],
  },
  /** A route serves and describes files, although they are no part of the API. */
  "/media/{id}/{file}": { id: "getMedia", summary: "Get a picture", type: "image/webp", errors: ["notFound"] },
} as const satisfies Record<string, SystemPage>;

export function describePage(
  { id, summary, data, type = "application/json", errors = [] }: SystemPage,
  schemas: Schemas,
): Json {
  const schema = { type: type === "application/json" ? "object" : "string" };
  const reply = data ? schemas.shared(schemas.reply(id, data)) : success({ [type]: { schema } });
  const responses = { 200: reply, ...errorResponses(errors, schemas) };
  const security = errors.includes("notAuthenticated") ? [{ metrics: [] }] : [{}];
  return { get: { operationId: id, tags: ["System"], summary, security, parameters: [], responses } };
}
