import { expect } from "bun:test";
import { issueVisitorToken } from "../../../src/server/modules/visitors/actor.ts";
import { createVault } from "../../../src/server/security/vault.ts";
import { tenantContext } from "../../support/factories.ts";
import { becomeVisitor, reacting } from "../../support/reactions.ts";
import { onDatabase } from "../../support/suite.ts";

/** Returns invalid tokens, made from a valid token and from a token of another store. */
function forgeriesOf(visitor: string, foreign: string, strange: string): string[] {
  const [id = "", signature = ""] = visitor.split("-");
  const flip = (text: string) => `${text.slice(0, -1)}${text.endsWith("0") ? "1" : "0"}`;
  return [
    foreign,
    strange,
    `${flip(id)}-${signature}`,
    `${id}-${flip(signature)}`,
    `${id}-${signature.toUpperCase()}`,
    `${id}-${foreign.split("-")[1]}`,
    `${foreign.split("-")[0]}-${signature}`,
    `${id}-`,
    id,
    `${visitor}0`,
    ` ${visitor}`,
    `${visitor}\n`,
    `${visitor}\u0000`,
    "vis_",
    "",
    "é".repeat(99),
  ];
}

// Runs only on a file, because tokens are verified in the same way on a libSQL server.
onDatabase("file", (suite) => {
  const { test } = suite;
  test("a forged or altered token, or one of another store, cannot read or change a visitor's bookmarks", async (shop) => {
    const path = "/bookmarks/";
    const other = await suite.shop();
    const { id } = await shop.createProduct();
    const { id: newer } = await shop.createProduct();
    const { id: theirs } = await other.createProduct();
    const visitor = await becomeVisitor(shop.callAnonymously, path, id);
    const me = reacting(shop.callAnonymously, path, { visitor });
    await me.add(newer);
    const cursor = (await me.list({ limit: "1" })).page.next_cursor as string;
    const foreign = await becomeVisitor(other.callAnonymously, path, theirs);
    const otherKey = createVault(() => "another secret, as long as the real one is");
    const strange = issueVisitorToken(otherKey, (await tenantContext(shop)).tenant.id).visitor;
    const seen = new Set<string>();
    for (const forged of forgeriesOf(visitor, foreign, strange)) {
      const forger = reacting(shop.callAnonymously, path, { visitor: forged });
      const list = await forger.list({ include_total: "true" });
      expect([forged, list.data, list.page.total]).toEqual([forged, [], 0]);
      expect([forged, (await forger.list({ cursor })).code]).toEqual([forged, 5100]);
      expect([forged, (await forger.get(id)).data]).toEqual([forged, { active: false, count: 1 }]);
      expect([forged, (await forger.remove(id)).data]).toEqual([forged, { active: false, count: 1 }]);
      // Each call without a valid token creates a visitor.
      const made = (await forger.add(newer)).data.visitor as string;
      expect(made.split("-")[0]).not.toBe(visitor.split("-")[0]);
      expect([visitor, foreign, forged]).not.toContain(made);
      expect(seen.has(made)).toBe(false);
      seen.add(made);
    }
    expect((await me.list()).data.map((one) => one.resource_id)).toEqual([newer, id]);
    expect((await me.get(newer)).data).toEqual({ active: true, count: 1 + seen.size });
    const elsewhere = reacting(other.callAnonymously, path, { visitor });
    expect((await elsewhere.list()).data).toEqual([]);
    expect((await elsewhere.remove(theirs)).data).toEqual({ active: false, count: 1 });
  });

  test("a visitor token is never logged, and only the reply that created it has it", async (shop) => {
    const { id } = await shop.createProduct();
    const visitor = await becomeVisitor(shop.callAnonymously, "/likes/", id);
    const me = reacting(shop.callAnonymously, "/likes/", { visitor });
    const replies = [await me.add(id), await me.get(id), await me.list(), await me.remove(id), await me.add("x")];
    for (const { text } of replies) expect(text).not.toContain("vis_");
    expect(suite.app.lines.filter((line) => line.includes("vis_"))).toEqual([]);
    // Even a token that was sent in the path by mistake is not logged.
    const misled = await shop.callAnonymously(`GET /likes/${visitor}/`, { headers: { "x-request-id": visitor } });
    expect(misled.requestId).not.toBe(visitor);
    const signature = visitor.slice(-43);
    expect(suite.app.lines.filter((line) => line.includes(signature))).toEqual([]);
  });
});
