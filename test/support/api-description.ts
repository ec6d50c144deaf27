import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { default as addFormats } from "ajv-formats";

type Json = Record<string, unknown>;

/** The fields of an operation in `/openapi.json` that tests use. */
export interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  parameters: { name: string; in: string; content?: object; schema?: { minLength?: number; pattern?: string } }[];
  requestBody?: unknown;
  responses: Record<string, { description: string; content?: Record<string, unknown> }>;
}

/** The description of the API, and functions that check calls against it. */
export interface ApiDescription {
  document: Json & { paths: Record<string, Record<string, Operation>> };
  /** Returns the path template and the operation of a request; undefined if no route matches. */
  find: (method: string, path: string) => { template: string; operation: Operation } | undefined;
  /**
   * Fails if a reply does not match the description of its operation.
   * @param isPart whether the request had `fields`. Without it, records must be complete.
   */
  checkReply: (method: string, path: string, status: number, body: unknown, isPart?: boolean) => void;
  /** Fails if an accepted request does not match the description. */
  checkRequest: (method: string, path: string, query: Iterable<string>, body: unknown) => void;
}

/** Parameters that every body and query may contain. */
const common = new Set(["namespace", "lang", "app_id", "app_secret", "user_id", "token"]);

/** Compiled descriptions by text, because compiling takes longer than most tests. */
const parsed = new Map<string, ApiDescription>();

/** Reads `/openapi.json` from an application. */
export async function readDescription(app: {
  handle: (request: Request) => Promise<Response>;
}): Promise<ApiDescription> {
  const reply = await app.handle(new Request("http://localhost/openapi.json"));
  const text = await reply.text();
  const description = parsed.get(text) ?? parseDescription(text);
  parsed.set(text, description);
  return description;
}

function parseDescription(text: string): ApiDescription {
  const document = resolveOperations(JSON.parse(text)) as ApiDescription["document"];
  const patterns = Object.entries(document.paths).map(([template, item]) => {
    const pattern = new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`);
    return { template, item, pattern };
  });
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(closeObjects(document) as Json, "api");
  ajv.addSchema(withoutRequired(closeObjects(document)) as Json, "part");
  const compiled = new Map<string, ValidateFunction>();

  function validate(pointer: string[], value: unknown, what: string, within: "api" | "part" = "api"): void {
    const ref = `${within}#/${pointer.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")}`;
    const check = compiled.get(ref) ?? (ajv.getSchema(ref) as ValidateFunction | undefined);
    if (!check) throw new Error(`${what}: /openapi.json has no schema for it`);
    compiled.set(ref, check);
    if (!check(value)) throw new Error(`${what} is not as described: ${ajv.errorsText(check.errors)}`);
  }

  function find(method: string, path: string) {
    const wanted = path.endsWith("/") || path.endsWith(".webp") ? path : `${path}/`;
    for (const { template, item, pattern } of patterns) {
      const operation = item[method === "HEAD" ? "get" : method.toLowerCase()];
      if (operation && pattern.test(wanted)) return { template, operation };
    }
    return undefined;
  }

  const pointerTo = (template: string, method: string) => [
    "paths",
    template,
    method === "HEAD" ? "get" : method.toLowerCase(),
  ];
  const content = ["content", "application/json", "schema"];

  return {
    document,
    find,
    checkReply(method, path, status, body, isPart = false) {
      const found = find(method, path);
      if (!found) return;
      const what = `The ${status} of ${method} ${found.template}`;
      const { [status]: own, [rangeOf(status)]: general } = found.operation.responses;
      const code = (body as { error?: { code: number } } | undefined)?.error?.code;
      const isListed =
        code === undefined ? (own ?? general) : `${own?.description}\n${general?.description}`.includes(`${code}`);
      if (!isListed) throw new Error(`${what}, ${code}, is not listed in /openapi.json`);
      const isFile = found.template.endsWith("{file}") && status < 400;
      if (method !== "HEAD" && status !== 304 && !isFile) {
        const pointer = [
          ...pointerTo(found.template, method),
          "responses",
          own ? String(status) : rangeOf(status),
          ...content,
        ];
        validate(pointer, body, what, isPart ? "part" : "api");
      }
    },
    checkRequest(method, path, query, body) {
      const found = find(method, path);
      if (!found) return;
      const known = new Set(found.operation.parameters.filter((one) => one.in === "query").map(({ name }) => name));
      for (const name of query) {
        const field = name.match(/^(\w+)\[.+\]$/)?.[1];
        const isDeep = found.operation.parameters.some((one) => one.content !== undefined && one.name === field);
        if (!common.has(name) && !known.has(name) && !isDeep)
          throw new Error(`${method} ${path} took ?${name}, undescribed`);
      }
      if (!found.operation.requestBody || typeof body !== "object" || body === null) return;
      const own = Object.fromEntries(Object.entries(body).filter(([name]) => !common.has(name)));
      const pointer = [...pointerTo(found.template, method), "requestBody", ...content];
      validate(pointer, own, `The accepted body of ${method} ${found.template}`);
    },
  };
}

const rangeOf = (status: number) => `${Math.floor(status / 100)}XX`;

/** Returns the document with references to parameters and responses replaced by these. */
export function resolveOperations(document: ApiDescription["document"]): ApiDescription["document"] {
  const components = document.components as Record<"parameters" | "responses", Json>;
  const resolve = (kind: keyof typeof components) => (one: unknown) => {
    const { $ref, ...rest } = one as { $ref?: string };
    return $ref === undefined ? one : { ...(components[kind][$ref.split("/").at(-1) as string] as Json), ...rest };
  };
  const paths = Object.entries(document.paths).map(([path, methods]) => {
    const operations = Object.entries(methods).map(([method, operation]) => {
      const responses = Object.entries(operation.responses).map(([status, one]) => [status, resolve("responses")(one)]);
      const whole = {
        ...operation,
        parameters: operation.parameters.map(resolve("parameters")),
        responses: Object.fromEntries(responses),
      };
      return [method, whole];
    });
    return [path, Object.fromEntries(operations)];
  });
  return { ...document, paths: Object.fromEntries(paths) };
}

/** Returns the document without required fields, for records that `fields` reduced. */
function withoutRequired(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutRequired);
  if (typeof node !== "object" || node === null) return node;
  const fields = Object.entries(node).filter(([name, value]) => !(name === "required" && Array.isArray(value)));
  return Object.fromEntries(fields.map(([name, value]) => [name, withoutRequired(value)]));
}

/** Returns the document with closed objects, in which undescribed fields are errors. */
function closeObjects(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closeObjects);
  if (typeof node !== "object" || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, closeObjects(value)])) as Json;
  if (copy.type === "object" && "properties" in copy && !("additionalProperties" in copy)) {
    copy.additionalProperties = false;
  }
  return copy;
}
