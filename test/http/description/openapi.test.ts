import { beforeAll, expect, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { takesKey } from "../../../src/server/api/idempotency.ts";
import { routes } from "../../../src/server/api/routes.ts";
import type { ErrorCode } from "../../../src/server/errors.ts";
import { asksOwnToken, isUnsigned } from "../../../src/server/http/access.ts";
import type { Route } from "../../../src/server/http/route.ts";
import type { ApiDescription, Operation } from "../../support/api-description.ts";
import { statusOfCode } from "../../support/error-status.ts";
import { onDatabase } from "../../support/suite.ts";

type Schema = Record<string, unknown> & { $ref?: string };

onDatabase("file", (suite) => {
  let document: ApiDescription["document"];
  let operations: [name: string, operation: Operation][];
  /** The pages outside the API. */
  let pages: [name: string, operation: Operation][];
  beforeAll(async () => {
    const response = await fetch(`${suite.app.url}/openapi.json`, { headers: { origin: "https://tools.example" } });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    document = (await response.json()) as ApiDescription["document"];
    operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, one]): [string, Operation] => [`${method.toUpperCase()} ${path}`, one]),
    );
    pages = operations.filter(([, { tags }]) => tags?.includes("System"));
    operations = operations.filter((one) => !pages.includes(one));
  });

  test("the description is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document));
    expect(errors ?? []).toEqual([]);
    expect([valid, validator.version]).toEqual([true, "3.1"]);
  });

  test("the description has exactly the existing routes", () => {
    const expected = routes.map(nameOf);
    expect(operations.map(([name]) => name).toSorted()).toEqual(expected.toSorted());
    expect(new Set(operations.map(([, { operationId }]) => operationId)).size).toBe(operations.length);
  });

  test("the pages outside the API are described with their statuses", async () => {
    const statuses = pages.map(([name, { responses }]) => [name, Object.keys(responses).join(" ")]);
    expect(Object.fromEntries(statuses)).toEqual({
      "GET /health/live": "200 431 500",
      "GET /health/ready": "200 431 500 503",
      "GET /openapi.json": "200 431 500",
      "GET /metrics": "200 401 404 431 500 503",
    });
    for (const [name] of pages) {
      const path = name.split(" ")[1] as string;
      const { status, headers } = await fetch(`${suite.app.url}${path}`);
      const described = pages.find(([one]) => one === name)?.[1].responses[status];
      expect(Object.keys(described?.content ?? {})).toEqual([headers.get("content-type")?.split(";")[0] ?? ""]);
    }
  });

  test("parameters refuse what the server refuses, and every operation knows the answer of the HTTP parser", async () => {
    const shop = await suite.shop();
    const { page } = await shop.call("GET /users/", { query: { limit: 1 } });
    const wrong = {
      namespace: [""],
      lang: ["", "e", "en_US", "x".repeat(36)],
      cursor: ["", "a b", "e30"],
      "If-Match": ["", "1", '"1",'],
    };
    const right = {
      namespace: [shop.namespace],
      lang: ["en", "pt-BR", "zh-Hant-TW", "de-CH-1996"],
      cursor: [page?.next_cursor ?? "WyI1"],
      "If-Match": ["*", '"1"', 'W/"2", "3"'],
    };
    for (const [name, { parameters, responses }] of operations) {
      expect([name, responses[431]]).toEqual([name, { $ref: "#/components/responses/HeadersTooLarge" } as never]);
      for (const parameter of parameters) {
        if (!(parameter.name in wrong)) continue;
        const { schema } = parameter as unknown as { schema: { minLength?: number; pattern?: string } };
        const accepts = (text: string) =>
          text.length >= (schema.minLength ?? 0) && new RegExp(schema.pattern ?? "", "u").test(text);
        const given = parameter.name as keyof typeof wrong;
        expect([name, given, wrong[given].filter(accepts)]).toEqual([name, given, []]);
        expect([name, given, right[given].filter((text) => !accepts(text))]).toEqual([name, given, []]);
      }
    }
    for (const lang of right.lang) expect((await shop.call("GET /products/", { query: { lang } })).status).toBe(200);
    for (const lang of wrong.lang) expect((await shop.call("GET /products/", { query: { lang } })).code).toBe(5102);
  });

  test("every reference resolves", () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#([^"]+)"/g)].map((match) => match[1] as string);
    expect(refs.length).toBeGreaterThan(0);
    for (const ref of refs) {
      const found = ref
        .split("/")
        .slice(1)
        .reduce<unknown>((node, part) => (node as Record<string, unknown> | undefined)?.[part], document);
      expect({ ref, found: typeof found }).toEqual({ ref, found: "object" });
    }
  });

  test("every operation declares its callers, its replies and its parameters", () => {
    for (const [name, operation] of operations) {
      const { summary, description, security, tags } = operation as Operation & Record<string, unknown>;
      expect([name, summary]).toEqual([name, expect.stringMatching(/\S/)]);
      expect(description).toContain("Allowed callers");
      expect((security as unknown[]).length).toBeGreaterThan(0);
      expect(tags as unknown[]).toHaveLength(1);
      const inPath = [...name.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);
      const given = operation.parameters.filter((one) => one.in === "path").map((one) => one.name);
      expect(given).toEqual(inPath);
      expect(operation.parameters.map((one) => one.name)).toContainValues(["namespace", "lang"]);
    }
  });

  test("every operation lists its errors under their status, with their meanings", () => {
    for (const [name, { parameters, responses }] of operations) {
      const listed: ErrorCode[] = [];
      for (const [status, { description }] of Object.entries(responses)) {
        if (Number(status) < 400) continue;
        const codes = codesOf(responses[status] as unknown as Schema);
        for (const code of codes) {
          expect([name, code, statusOfCode(code)]).toEqual([name, code, Number(status)]);
          expect(description).toMatch(new RegExp(`^${code}: \\S`, "m"));
        }
        listed.push(...codes);
      }
      expect([name, listed.toSorted()]).toEqual([name, expect.arrayContaining(credentialCodes(name))]);
      expect(listed).toContainValues([5000, 5001, 5100, 5101, 5209, 5215]);
      expect(new Set(listed).size).toBe(listed.length);
      const successes = Object.keys(responses).filter((status) => Number(status) < 300);
      // A create returns 200 for a dry run, and for a record that exists already.
      const isTried = parameters.some((one) => one.name === "dry_run") && successes.includes("201");
      const { reply, readState } = routes.find((route) => nameOf(route) === name) as Route;
      const { existing } = reply;
      expect("304" in responses).toBe(readState !== undefined);
      expect(successes).toHaveLength(isTried || existing !== undefined ? 2 : 1);
    }
  });

  test("a route that supports Idempotency-Key or If-Match declares the header and its errors", () => {
    for (const route of routes) {
      const name = nameOf(route);
      const operation = operations.find(([one]) => one === name)?.[1] as Operation;
      const headers = operation.parameters.filter((one) => one.in === "header").map((one) => one.name);
      const codes = Object.values(operation.responses).flatMap((response) => codesOf(response as unknown as Schema));
      expect([name, headers.includes("Idempotency-Key"), codes.includes(5307)]).toEqual([
        name,
        takesKey(route),
        takesKey(route),
      ]);
      const isConditional = route.conditional === true;
      expect([name, headers.includes("If-Match"), codes.includes(5303)]).toEqual([name, isConditional, isConditional]);
    }
  });

  test("a product's schema has each field of a reply, with its type", () => {
    const schemas = (document.components as { schemas: Record<string, { properties: Record<string, Schema> }> })
      .schemas;
    const properties = schemas.Product?.properties ?? {};
    expect(Object.keys(properties)).toContainValues(["id", "title", "slug", "price", "price_minor", "version", "lang"]);
    for (const [field, schema] of Object.entries(properties)) {
      expect([field, Boolean(schema.type ?? schema.anyOf ?? schema.$ref ?? schema.patternProperties)]).toEqual([
        field,
        true,
      ]);
    }
    expect(JSON.stringify(document)).not.toContain('"expects"');
  });

  test("each way to send app credentials is described", () => {
    const schemes = Object.values((document.components as { securitySchemes: Record<string, Schema> }).securitySchemes);
    expect(schemes).toContainEqual(expect.objectContaining({ type: "http", scheme: "bearer" }));
    for (const name of ["user_id", "token", "app_id", "app_secret"]) {
      expect(schemes).toContainEqual(expect.objectContaining({ type: "apiKey", in: "query", name }));
    }
  });
});

/** The path of a route in the description. */
function nameOf({ method, path }: Route): string {
  return `${method} ${path.replace(/:(\w+)/g, "{$1}")}`;
}

/** The error codes of credentials that a route can return. */
function credentialCodes(name: string): ErrorCode[] {
  const { access } = routes.find((route) => nameOf(route) === name) as Route;
  if (isUnsigned(access)) return [];
  const isPublic = access.some(({ kind }) => kind === "public");
  const proving: ErrorCode[] = asksOwnToken(access)
    ? [5202, 5203, 5204, 5206, 5214]
    : [5202, 5203, 5204, 5205, 5206, 5207];
  return isPublic ? proving : [...proving, 5300];
}

/** The codes that a response's schema allows. */
function codesOf(response: Schema): ErrorCode[] {
  const found = /"code":\{"enum":\[([\d,]+)\]/.exec(JSON.stringify(response))?.[1];
  return (found ?? "").split(",").filter(Boolean).map(Number) as ErrorCode[];
}
