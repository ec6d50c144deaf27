import { randomInt } from "node:crypto";

// Without characters that look alike: 0 O o, 1 l I.
const letters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const groups = 5;
const groupLength = 5;

/** A password that satisfies the policy (specification, section 8): 145 random bits, in groups that can be read. */
export function makePassword(): string {
  for (;;) {
    const password = Array.from({ length: groups }, makeGroup).join("-");
    if (/[a-z]/.test(password) && /[A-Z]/.test(password) && /\d/.test(password)) return password;
  }
}

function makeGroup(): string {
  return Array.from({ length: groupLength }, () => letters[randomInt(letters.length)]).join("");
}
