import { expect, test } from "bun:test";
import { readOrderNumber, transferReference } from "../../../src/server/modules/orders/transfer-reference.ts";

// Returns the remainder of the whole reference, as ISO 11649 defines it.
function remainder(reference: string): bigint {
  const moved = reference.slice(4) + reference.slice(0, 4);
  return BigInt(moved.replaceAll(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55))) % 97n;
}

test("transfer references follow ISO 11649, and are recognized in any spelling", () => {
  expect(transferReference(539_007_547_034)).toBe("RF18539007547034");
  for (const number of [1, 9, 17, 96, 97, 98, 1000, 123_456_789, 999_999_999_999_999]) {
    const reference = transferReference(number);
    expect([reference, remainder(reference)]).toEqual([expect.stringMatching(/^RF\d{2}\d+$/), 1n]);
    expect(readOrderNumber(reference)).toBe(number);
    expect(readOrderNumber(` ${reference.toLowerCase().replace(/(.{4})/g, "$1 ")}`)).toBe(number);
  }
  expect(readOrderNumber("RF18 5390 0754 7034")).toBe(539_007_547_034);
});

test("a transfer reference with one wrong digit, or with two exchanged digits, is refused", () => {
  const reference = transferReference(3_141_592);
  for (let place = 2; place < reference.length; place++) {
    for (const digit of "0123456789") {
      const typed = reference.slice(0, place) + digit + reference.slice(place + 1);
      if (typed !== reference) expect([typed, readOrderNumber(typed)]).not.toEqual([typed, 3_141_592]);
      if (typed !== reference && !/^RF..0/.test(typed)) expect([typed, readOrderNumber(typed)]).toEqual([typed, null]);
    }
    const [a = "", b = ""] = reference.slice(place, place + 2);
    const swapped = reference.slice(0, place) + b + a + reference.slice(place + 2);
    if (b !== "" && a !== b) expect([swapped, readOrderNumber(swapped)]).toEqual([swapped, null]);
  }
});

test("other texts are not transfer references", () => {
  for (const text of ["", "17a", "RF", "RF18", "RF1817a", "RF180", "ord_01k8z3v5x2f1rt9m6q7wbn4hcd", "RF18-17"]) {
    expect(readOrderNumber(text)).toBeUndefined();
  }
});
