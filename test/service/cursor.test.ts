import { expect, test } from "bun:test";
import { encodeCursor } from "../../src/server/pagination/list-page.ts";

const asked = ["tnt_1", "-price", "published", null];
test("a cursor reveals no data of the store", () => {
  const plain = Buffer.from(encodeCursor({ value: 1, id: "prod_1" }, asked), "base64url").toString();
  expect(plain).not.toContain("tnt_1");
  expect(plain).not.toContain("published");
});
