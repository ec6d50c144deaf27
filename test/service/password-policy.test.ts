import { describe, expect, test } from "bun:test";
import { requireStrongPassword } from "../../src/server/modules/passwords/password-policy.ts";
import { goodPassword, otherPassword } from "../support/account.ts";
import { failureOf } from "../support/failure.ts";

const judge = (password: string) => failureOf(() => requireStrongPassword("password", password));

test("a password of 16 characters of all four kinds is strong, in any script", () => {
  for (const password of [
    goodPassword,
    otherPassword,
    "Abcdefg hijklm 1",
    "Ünïcödé-Lämpchen٣",
    "Лампа-и-Чайник-42",
    "xK9#mQ2$vL7@pR4!",
    "灯灯灯灯灯灯灯灯灯灯灯灯aA1!",
    "Aa1💡💡💡💡💡💡💡💡💡💡💡💡💡",
    `Aa1!${"xyz-".repeat(255)}`,
    // Only the beginning of this password is common.
    "NewPassword123!@",
    "TestPassword123!",
  ]) {
    expect(() => requireStrongPassword("password", password)).not.toThrow();
  }
});

describe("the error of a weak password says what it needs, and does not repeat the password", () => {
  const rules = {
    length: "at least 16 characters",
    lower: "a lowercase letter",
    upper: "an uppercase letter",
    digit: "a digit",
    special: "a special character",
  };
  const cases: [string, (keyof typeof rules)[]][] = [
    ["", ["length", "lower", "upper", "digit", "special"]],
    ["Kettle-4871-Ver", ["length"]],
    ["VERMILION-KETTLE-4871", ["lower"]],
    ["vermilion-kettle-4871", ["upper"]],
    ["Vermilion-Kettle-four", ["digit"]],
    ["VermilionKettle4871", ["special"]],
    ["vermilionkettlefour", ["upper", "digit", "special"]],
    ["                    ", ["lower", "upper", "digit"]],
    // The length is counted in composed characters, not in bytes or UTF-16 units.
    ["Aa1💡💡💡💡💡💡💡💡💡💡💡💡", ["length"]],
    ["Ae\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u03011!", ["length"]],
    // Letters without case are neither lower nor upper. Letters and marks are not special, and fractions are not
    // digits.
    ["灯灯灯灯灯灯灯灯灯灯灯灯灯灯1!", ["lower", "upper"]],
    ["VermilionKettleनि4871", ["special"]],
    ["Vermilion-Kettle-½²Ⅷ", ["digit"]],
    ["Vermilion\u200dKettle\u200d4871", ["special"]],
  ];
  for (const [password, lacks] of cases) {
    test(JSON.stringify(password), async () => {
      const error = await judge(password);
      const named = lacks.map((rule) => rules[rule]);
      const last = named.pop();
      const message = `needs ${named.length > 0 ? `${named.join(", ")} and ` : ""}${last}`;
      expect(error).toMatchObject({ code: 5217, details: [{ field: "password", message }] });
      if (password.trim() !== "") expect((error as Error).message).not.toContain(password);
    });
  }
});

for (const password of [
  "Password123!Password123!",
  "P@ssw0rd!!!!!!!!1",
  "P4$$w0rd+++2024++",
  ..."Password-Password-1! PASSWORd12345678! !!!!2024Password!! 1Q2w3e4r5t6y!!!! Iloveyou!Iloveyou!1".split(" "),
  ..."Qwertyuiop123456! Summer2024!!!!!! LetMeIn1!LetMeIn1!LetMeIn1! Ｐassword1234567!!".split(" "),
  ..."Passw0rd1Passw0rd1!".split(" "),
]) {
  test(`${password} is refused as a variant of a common password`, async () => {
    const error = await judge(password);
    expect(error).toMatchObject({ code: 5217, details: [{ field: "password" }] });
    expect(JSON.stringify(error)).toContain("common");
    expect(JSON.stringify(error)).not.toContain(password);
  });
}

test("random passwords are not refused as common passwords", () => {
  const signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*()-_=+";
  let at = 5;
  for (let n = 0; n < 50; n++) {
    let password = "aA1!";
    while (password.length < 16) {
      at = (Math.imul(at, 1_103_515_245) + 12_345) >>> 0;
      password += signs[(at >>> 8) % signs.length];
    }
    expect(() => requireStrongPassword("password", password)).not.toThrow();
  }
});

for (const [name, password] of [
  ["more than 1,024 bytes", `Aa1!${"x".repeat(1021)}`],
  ["more than 1,024 bytes in few characters", `Aa1!${"灯".repeat(341)}`],
  ["a line break", "Vermilion\nKettle-4871"],
  ["NUL", "Vermilion\0Kettle-4871"],
  ["half of a surrogate pair", "Vermilion-Kettle-4871\ud800"],
] as const) {
  test(`${name} is refused with 5102, not 5217`, async () => {
    expect(await judge(password)).toMatchObject({ code: 5102, details: [{ field: "password" }] });
  });
}
