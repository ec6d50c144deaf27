import { expect, test } from "bun:test";
import { authorize } from "../../src/server/api/authenticate.ts";
import type { Actor } from "../../src/server/context.ts";
import { type Access, app, publicAccess, staff, token } from "../../src/server/http/route.ts";

const key = (...scopes: string[]): Actor => ({ kind: "app", appId: "app_1", scopes: new Set(scopes) });
const user = (role: "customer" | "staff" | "owner"): Actor => ({ kind: "user", userId: "usr_1", role });
const visitor: Actor = { kind: "visitor" };

const actors = {
  "a key for everything": key("*"),
  "a key for reading": key("products:read"),
  "a key for writing": key("products:write"),
  "a key for nothing": key(),
  "a customer": user("customer"),
  "a member of staff": user("staff"),
  "an owner": user("owner"),
  "a visitor": visitor,
} satisfies Record<string, Actor>;
type Who = keyof typeof actors;

const table: [name: string, access: Access[], allowed: Who[]][] = [
  ["a scope", [app("products:read")], ["a key for everything", "a key for reading"]],
  ["a token", [token], ["a customer", "a member of staff", "an owner"]],
  ["staff", [staff], ["a member of staff", "an owner"]],
  [
    "a scope or a token",
    [app("products:read"), token],
    ["a key for everything", "a key for reading", "a customer", "a member of staff", "an owner"],
  ],
  [
    "a scope or staff",
    [app("products:write"), staff],
    ["a key for everything", "a key for writing", "a member of staff", "an owner"],
  ],
  ["anyone", [publicAccess], Object.keys(actors) as Who[]],
  ["nobody", [], []],
];

for (const [name, access, allowed] of table) {
  test(`a route open to ${name} admits ${allowed.length === 0 ? "none" : allowed.join(", ")}`, () => {
    for (const [who, actor] of Object.entries(actors)) {
      let code: unknown;
      try {
        authorize(access, actor);
      } catch (error) {
        code = (error as { code: unknown }).code;
      }
      expect([who, code]).toEqual([who, allowed.includes(who as Who) ? undefined : 5300]);
    }
  });
}
