import { beforeAll, expect } from "bun:test";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { default as addFormats } from "ajv-formats";
import { takesKey } from "../../../src/server/api/answers.ts";
import { routes } from "../../../src/server/api/routes.ts";
import { codeOf, type ErrorCode } from "../../../src/server/errors.ts";
import type { Route } from "../../../src/server/http/route.ts";
import { type ApiDescription, type Operation, resolveOperations } from "../../support/api-description.ts";
import { statusOfCode } from "../../support/error-status.ts";
import { onDatabase } from "../../support/suite.ts";

type Schema = Record<string, unknown> & { $ref?: string };

onDatabase("file", (suite) => {
  const { test } = suite;
  let text: string;
  let raw: ApiDescription["document"];
  let document: ApiDescription["document"];
  let operations: [name: string, operation: Operation][];
  beforeAll(async () => {
    const response = await fetch(`${suite.app.url}/openapi.json`, { headers: { origin: "https://tools.example" } });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    text = await response.text();
    raw = JSON.parse(text) as ApiDescription["document"];
    document = resolveOperations(raw);
    operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, one]): [string, Operation] => [`${method.toUpperCase()} ${path}`, one]),
    );
  });

  test("the description is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(raw));
    expect(errors ?? []).toEqual([]);
    expect([valid, validator.version]).toEqual([true, "3.1"]);
  });

  test("the description contains exactly the existing routes", () => {
    const expected = routes.map(nameOf);
    expect(operations.map(([name]) => name).toSorted()).toEqual(expected.toSorted());
    expect(new Set(operations.map(([, { operationId }]) => operationId)).size).toBe(operations.length);
  });

  test("the schemas of parameters refuse the values that the server refuses", async (shop) => {
    const { page } = await shop.call("GET /users/", { query: { limit: 1 } });
    const wrong = {
      namespace: [""],
      lang: ["", "e", "en_US", "x".repeat(36)],
      cursor: ["", "a b", "e30"],
      "If-Match": ["", "1", '"1",'],
      "created_at[gte]": [
        "",
        ..."today 2026-02-29 2026-02-30 2026-04-31 2026-1-1 2026-01-01T25:00:00Z 2026-01-01T10:00".split(" "),
      ],
      types: ["", "order", "order.*,", "product.made", "order,paid"],
    };
    const right = {
      namespace: [shop.namespace],
      lang: ["en", "pt-BR", "zh-Hant-TW", "de-CH-1996"],
      cursor: [page?.next_cursor ?? "WyI1"],
      "If-Match": ["*", '"1"', 'W/"2"'],
      "created_at[gte]": "2026-01-31 2000-02-29 2028-02-29 2026-12-01T23:59Z 2026-01-31T12:00:00.123456789+05:30".split(
        " ",
      ),
      types: ["*", "order.*", "order.paid,product.*"],
    };
    for (const [name, { parameters }] of operations) {
      for (const parameter of parameters) {
        if (!(parameter.name in wrong)) continue;
        const { schema = {} } = parameter;
        const accepts = (text: string) =>
          text.length >= (schema.minLength ?? 0) && new RegExp(schema.pattern ?? "", "u").test(text);
        const given = parameter.name as keyof typeof wrong;
        expect([name, given, wrong[given].filter(accepts)]).toEqual([name, given, []]);
        expect([name, given, right[given].filter((text) => !accepts(text))]).toEqual([name, given, []]);
      }
    }
    for (const [request, name] of [
      ["GET /products/", "created_at[gte]"],
      ["GET /events/", "types"],
    ] as const) {
      for (const value of right[name])
        expect((await shop.call(request, { query: { [name]: value } })).status).toBe(200);
      for (const value of wrong[name]) expect((await shop.call(request, { query: { [name]: value } })).code).toBe(5102);
    }
    for (const lang of right.lang) expect((await shop.call("GET /products/", { query: { lang } })).status).toBe(200);
    for (const lang of wrong.lang) expect((await shop.call("GET /products/", { query: { lang } })).code).toBe(5102);
  });

  test("the API description accepts the bodies that the server accepts, and refuses the texts that the server refuses", async (shop) => {
    const ajv = describedBy(raw);
    const address = { line1: "Elm 1", city: "Bonn", country: "DE" };
    const message = { title: "Sale", body: "Lamps\nfor half", everyone: true };
    for (const [request, schema, right, wrong] of [
      [
        "POST /products/",
        "ProductInput",
        { title: "Lampe für 50\u00a0€", price: 2, tags: ["a b"] },
        [{ title: "\u00a0" }, { title: "a\nb" }, { tags: ["a\tb"] }, { sku: " " }],
      ],
      [
        "POST /users/",
        "UserInput",
        { email: "ada@example.com", name: "Ada", addresses: [{ ...address, is_default: true }, address] },
        [
          { name: "" },
          { name: "a\u007f" },
          { addresses: [{ ...address, country: "XX" }] },
          { addresses: [{ ...address, country: "de" }] },
          { addresses: [1, 2].map(() => ({ ...address, is_default: true })) },
          { password: "Long-enough-1234\u0085" },
          { password_hash: "5f4dcc3b5aa765d61d8327deb882cf99" },
        ],
      ],
      [
        "POST /notifications/send/",
        "NotificationInput",
        message,
        [{ body: "a\u0000" }, { body: "\n" }, { url: "http://a.example" }],
      ],
    ] as const) {
      const accepts = (body: object) => ajv.validate({ $ref: `api#/components/schemas/${schema}` }, body);
      expect([right, accepts(right), (await shop.call(request, { body: right })).error]).toEqual([
        right,
        true,
        undefined,
      ]);
      for (const part of wrong) {
        const { code } = await shop.call(request, { body: { ...right, ...part } });
        expect([part, accepts({ ...right, ...part }), code]).toEqual([part, false, 5102]);
      }
    }
  });

  test("the API description has at most 275 KB, one schema for each record, no constants and no unions of enums", () => {
    expect(text.length).toBeLessThan(275_000);
    expect(text).not.toMatch(/"const"|Part"/);
    expect(text).not.toMatch(/"anyOf":\[\{[^[\]]*"enum":\[[^\]]*\]\},\{[^[\]]*"enum"/);
  });

  test("each required body and each reply has an example that matches its schema", () => {
    const { schemas } = raw.components as { schemas: Record<string, Schema & { examples?: unknown[] }> };
    const ajv = describedBy(raw);
    const shown = Object.entries(schemas).filter(([, { examples }]) => examples !== undefined);
    for (const [name, { examples }] of shown) {
      const isValid = ajv.validate({ $ref: `api#/components/schemas/${name}` }, examples?.[0]);
      expect([name, isValid, ajv.errors]).toEqual([name, true, null]);
    }
    const named = new Set(shown.map(([name]) => `#/components/schemas/${name}`));
    const needed = operations.flatMap(([, { requestBody, responses }]) => {
      const success = Object.entries(responses).find(([status]) => Number(status) < 300)?.[1];
      return [
        ...JSON.stringify([isNeeded(requestBody) && requestBody, success]).matchAll(
          /"application\/json":\{"schema":\{"\$ref":"([^"]+)"/g,
        ),
      ];
    });
    expect(needed.length).toBeGreaterThan(operations.length);
    expect(needed.map(([, ref]) => ref).filter((ref) => !named.has(ref as string))).toEqual([]);
  });

  test("generated clients can distinguish the names of all schemas, and each JSON reply has a name", () => {
    const names = Object.keys((raw.components as { schemas: object }).schemas);
    expect(new Set(names.map((name) => name.toLowerCase().replace(/[^a-z0-9]/g, ""))).size).toBe(names.length);
    const unnamed = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.values(item).flatMap(({ responses }) =>
        Object.values(responses)
          .map(({ content }) => content?.["application/json"] as { schema: Schema } | undefined)
          .filter((json) => json !== undefined && json.schema.$ref === undefined)
          .map(() => path),
      ),
    );
    expect(unnamed).toEqual([]);
  });

  test("the settings of schemathesis name only existing operations, once each", async () => {
    const file = join(import.meta.dir, "../../../tools/schemathesis/schemathesis.toml");
    const settings = Bun.TOML.parse(await Bun.file(file).text()) as { operations: Record<string, string | string[]>[] };
    const named = settings.operations.flatMap((one) => one["include-operation-id"] ?? "none");
    const known = new Set(operations.map(([, { operationId }]) => operationId));
    expect(named.filter((id) => !known.has(id))).toEqual([]);
    expect(new Set(named).size).toBe(named.length);
  });

  test("the description of a list names the fields that can be selected", async (shop) => {
    for (const [name, { parameters }] of operations) {
      const fields = parameters.find((one) => one.name === "fields");
      if (fields) expect([name, fields.schema?.pattern]).toEqual([name, expect.any(String)]);
    }
    const [, { parameters }] = operations.find(([name]) => name === "GET /products/") as (typeof operations)[number];
    const form = new RegExp(parameters.find((one) => one.name === "fields")?.schema?.pattern ?? "", "u");
    for (const [fields, status] of [
      ["title", 200],
      ["id,title,price", 200],
      ["titles", 422],
      [",title", 422],
      ["title,", 422],
      ["titleprice", 422],
    ] as const) {
      expect([fields, form.test(fields)]).toEqual([fields, status === 200]);
      expect((await shop.call("GET /products/", { query: { fields } })).status).toBe(status);
    }
  });

  test("every operation declares its callers, its replies and its parameters", () => {
    for (const [name, operation] of operations) {
      const { summary, description, security, tags } = operation as Operation & Record<string, unknown>;
      expect([name, summary]).toEqual([name, expect.stringMatching(/\S/)]);
      expect(description).toContain("Allowed callers");
      expect(((security ?? document.security) as unknown[]).length).toBeGreaterThan(0);
      expect(tags as unknown[]).toHaveLength(1);
      const inPath = [...name.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);
      const given = operation.parameters.filter((one) => one.in === "path").map((one) => one.name);
      expect(given).toEqual(inPath);
      expect(operation.parameters.map((one) => one.name)).toContainValues(["namespace", "lang"]);
    }
  });

  test("every operation lists its headers, its own errors and the common ones, by status and with their meanings", () => {
    for (const [name, { parameters, responses }] of operations) {
      const route = routes.find((one) => nameOf(one) === name) as Route;
      const { reply, readEtagSource, errors = [], path, conditional = false } = route;
      for (const [status, { description }] of Object.entries(responses)) {
        if (!(Number(status) >= 400)) continue;
        for (const code of codesOf(description)) {
          expect([name, code, statusOfCode(code)]).toEqual([name, code, Number(status)]);
          expect(description).toMatch(new RegExp(`^${code}: \\S`, "m"));
        }
      }
      if (path.includes(":")) expect([name, ...allCodes(responses)]).toContain(codeOf("notFound"));
      expect([name, allCodes(responses)]).toEqual([name, expect.arrayContaining([...errors.map(codeOf), ...general])]);
      const headers = parameters.filter((one) => one.in === "header").map((one) => one.name);
      const codes = allCodes(responses);
      expect([name, headers.includes("Idempotency-Key"), codes.includes(5307)]).toEqual([
        name,
        takesKey(route),
        takesKey(route),
      ]);
      expect([name, headers.includes("If-Match"), codes.includes(5303)]).toEqual([name, conditional, conditional]);
      const successes = Object.keys(responses).filter((status) => Number(status) < 300);
      // These creates also return 200: for a dry run, or for an existing record.
      const isTried = parameters.some((one) => one.name === "dry_run") && successes.includes("201");
      expect("304" in responses).toBe(readEtagSource !== undefined);
      expect(successes).toHaveLength(isTried || reply.existing !== undefined ? 2 : 1);
    }
  });

  test("an operation lists only error codes that are possible for its callers and its method", () => {
    const signedIn: ErrorCode[] = [...general, 5203, 5205, 5206, 5207, 5300];
    for (const [name, codes] of [
      ["GET /products/", signedIn],
      ["GET /products/{id}/", [...signedIn, 5301]],
      ["PATCH /products/{id}/", [...signedIn, 5103, 5104, 5301, 5302, 5303]],
      ["GET /likes/", [...general, 5203, 5205, 5206, 5207, 5301]],
      ["POST /auth/login/", [...general, 5103, 5104, 5211, 5212, 5213]],
      ["POST /auth/refresh/", [...general, 5103, 5104, 5203, 5206, 5214, 5300]],
    ] as [string, ErrorCode[]][]) {
      const [, { responses }] = operations.find(([one]) => one === name) as (typeof operations)[number];
      const listed = Object.entries(responses).flatMap(([, { description }]) => codesOf(description));
      expect([name, listed.toSorted()]).toEqual([name, codes.toSorted()]);
    }
  });

  test("the description contains each way to send app credentials", () => {
    const schemes = Object.values((document.components as { securitySchemes: Record<string, Schema> }).securitySchemes);
    expect(schemes).toContainEqual(expect.objectContaining({ type: "http", scheme: "bearer" }));
    for (const name of ["user_id", "token", "app_id", "app_secret"]) {
      expect(schemes).toContainEqual(expect.objectContaining({ type: "apiKey", in: "query", name }));
    }
  });
});

/** Returns a validator that has the description as `api`. */
function describedBy(raw: ApiDescription["document"]): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, validateSchema: false });
  addFormats.default(ajv);
  return ajv.addSchema(raw, "api");
}

/** Returns the path of a route in the form of the description. */
function nameOf({ method, path }: Route): string {
  return `${method} ${path.replace(/:(\w+)/g, "{$1}")}`;
}

function isNeeded(body: unknown): boolean {
  return (body as { required?: boolean } | undefined)?.required === true;
}

/** The codes that every operation can return. */
const general: ErrorCode[] = [5000, 5001, 5100, 5101, 5102, 5202, 5204, 5209, 5215];

/** Returns the codes that the description of a response explains. */
function codesOf(description = ""): ErrorCode[] {
  return [...description.matchAll(/^(\d{4})\b/gm)].map(([, code]) => Number(code) as ErrorCode);
}

function allCodes(responses: Operation["responses"]): ErrorCode[] {
  return Object.values(responses).flatMap(({ description }) => codesOf(description));
}
