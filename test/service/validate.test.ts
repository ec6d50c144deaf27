import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { validate } from "../../src/server/validate.ts";
import { failureOf } from "../support/failure.ts";

const schema = Type.Object(
  { tags: Type.Array(Type.String({ minLength: 1 }), { maxItems: 3 }), title: Type.String() },
  { additionalProperties: false },
);
const fieldsOf = async (value: unknown) => {
  const { details } = (await failureOf(() => validate(schema, value, "body"))) as { details: { field: string }[] };
  return details.map(({ field }) => field);
};

test("every field at fault is named once", async () => {
  expect(await fieldsOf({ tags: ["", "a", ""], extra: 1 })).toEqual(["title", "extra", "tags.0", "tags.2"]);
});

test("what is too large is not looked through for further faults", async () => {
  expect(await fieldsOf({ title: "A", tags: ["", "", "", ""] })).toEqual(["tags"]);
});
