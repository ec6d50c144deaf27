import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { validate } from "../../src/server/values/validate.ts";
import { failureOf } from "../support/failure.ts";

const schema = Type.Object(
  { tags: Type.Array(Type.String({ minLength: 1 }), { maxItems: 3 }), title: Type.String() },
  { additionalProperties: false },
);
const fieldsOf = async (value: unknown) => {
  const { details } = (await failureOf(() => validate(schema, value, "body"))) as { details: { field: string }[] };
  return details.map(({ field }) => field);
};

test("the errors of a validation name every invalid field once", async () => {
  expect(await fieldsOf({ tags: ["", "a", ""], extra: 1 })).toEqual(["title", "extra", "tags.0", "tags.2"]);
});

test("a value that is too large is not checked for further errors", async () => {
  expect(await fieldsOf({ title: "A", tags: ["", "", "", ""] })).toEqual(["tags"]);
});

test("for an object that may be null, the error names the invalid field of the object", async () => {
  const address = Type.Object({ city: Type.String(), country: Type.String() }, { additionalProperties: false });
  const order = Type.Object({
    to: Type.Union([address, Type.Null()]),
    sort: Type.Union([Type.Literal("a"), Type.Literal("b")]),
  });
  const faults = async (value: unknown) => {
    const { details } = (await failureOf(() => validate(order, value, "body"))) as { details: { field: string }[] };
    return details.map(({ field }) => field);
  };
  expect(await faults({ sort: "a", to: { city: 1, zip: "x" } })).toEqual(["to.country", "to.zip", "to.city"]);
  expect(await faults({ sort: "c", to: {} })).toEqual(["to.city", "to.country", "sort"]);
  expect(await faults({ sort: "a", to: "Bern" })).toEqual(["to"]);
});

test("messages of validation errors describe the accepted values in plain words", async () => {
  const fields = {
    code: Type.String({ minLength: 2, maxLength: 2 }),
    title: Type.String({ maxLength: 300 }),
    size: Type.Integer({ minimum: 1, maximum: 100 }),
    country: Type.String({ expects: "a two-letter country code, such as DE" }),
    note: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
  };
  const values = { code: "a", title: 1, size: 101, country: 1, note: "" };
  const error = await failureOf(() => validate(Type.Object(fields), values, "body"));
  expect((error as { details: unknown }).details).toEqual([
    { field: "code", message: "must be a string of exactly 2 characters" },
    { field: "title", message: "must be a string of at most 300 characters" },
    { field: "size", message: "must be a whole number from 1 to 100" },
    { field: "country", message: "must be a two-letter country code, such as DE" },
    { field: "note", message: "must be a string of at least 1 character or null" },
  ]);
});

test("for a long field name with many errors, only a limited number of errors is collected", async () => {
  const texts = Type.Object({ title: Type.String() }, { additionalProperties: false });
  const names = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`name${n}`, 1]));
  const value = { ["n".repeat(1000)]: names, other: { title: 1 } };
  expect(await failureOf(() => validate(Type.Record(Type.String(), texts), value, "body"))).toMatchObject({
    details: [{ field: "n".repeat(200) }],
  });
});
