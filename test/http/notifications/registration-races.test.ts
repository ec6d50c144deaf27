import { expect } from "bun:test";
import { ensureVapidKeys } from "../../../src/server/modules/notifications/providers/vapid.ts";
import { vault } from "../../support/app.ts";
import { newAppleToken, newSubscription, type RegistrationReply, registerWith } from "../../support/registrations.ts";
import { onEachDatabase } from "../../support/suite.ts";

const path = "/notifications/register/";
const post = `POST ${path}`;

onEachDatabase((suite) => {
  const { test, onFile } = suite;
  const rows = async (sql: string) =>
    (await suite.app.db.execute(sql)).rows.map((row) => ({ ...row }) as Record<string, unknown>);

  test("processes that start at once use the same keys for Web Push, which never change", async () => {
    await suite.app.db.execute("delete from vapid_keys");
    const dbs = [suite.app.db, await suite.database.openAgain(), await suite.database.openAgain()];
    const all = await Promise.all(dbs.flatMap((db) => [1, 2].map(() => ensureVapidKeys({ db, vault, now: Date.now }))));
    expect(new Set(all.map((keys) => JSON.stringify(keys))).size).toBe(1);
    expect(Buffer.from(all[0]?.privateKey ?? "", "base64url")).toHaveLength(32);
    const kept = await rows("select * from vapid_keys");
    expect(kept).toHaveLength(1);
    expect(JSON.stringify(kept)).not.toContain(all[0]?.privateKey as string);
  });

  test("concurrent registrations of one browser all succeed, and leave one row with one valid secret and its topics", async () => {
    const { callAnonymously: call } = await suite.shop();
    for (const device of [
      { platform: "web", subscription: newSubscription() },
      { platform: "ios", token: newAppleToken() },
    ]) {
      const replies = await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          call<RegistrationReply>(post, { body: { ...device, topics: [`t${n}`, "all"] } }),
        ),
      );
      expect(replies.map(({ status }) => status).toSorted()).toEqual([...Array(11).fill(200), 201]);
      const [id, ...others] = new Set(replies.map(({ data }) => data.id));
      expect(others).toEqual([]);
      const tries = replies.map(async ({ data: { management_secret, topics } }) => {
        const changed = await call<RegistrationReply>(`PATCH ${path}${id}/`, { body: { management_secret } });
        return changed.status === 200 && [topics, changed.data.topics];
      });
      const holding = (await Promise.all(tries)).filter((one) => one !== false);
      expect(holding).toHaveLength(1);
      const [[said, stands] = []] = holding;
      expect(stands).toEqual(said as string[]);
    }
  });

  onFile("if two browsers register one endpoint at once, only one succeeds", async ({ callAnonymously: call }) => {
    for (let round = 0; round < 3; round++) {
      const first = newSubscription();
      const claims = [first, newSubscription(first.endpoint), newSubscription(first.endpoint)];
      const replies = await Promise.all(
        claims.map((subscription) => call(post, { body: { platform: "web", subscription } })),
      );
      expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
    }
  });

  onFile("a management secret can claim an endpoint only once", async ({ callAnonymously: call }) => {
    for (let round = 0; round < 3; round++) {
      const subscription = newSubscription();
      const { management_secret } = await registerWith(call, { subscription });
      const claims = Array.from({ length: 4 }, () => newSubscription(subscription.endpoint));
      const replies = await Promise.all(
        claims.map((claim) => call(post, { body: { platform: "web", subscription: claim, management_secret } })),
      );
      expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
    }
  });

  onFile("a concurrent change or removal happens before a new registration, or has no effect", async () => {
    const { callAnonymously: call } = await suite.shop();
    for (let round = 0; round < 3; round++) {
      const subscription = newSubscription();
      const { id, management_secret } = await registerWith(call, { subscription });
      const [anew, changed, removed] = await Promise.all([
        call<RegistrationReply>(post, { body: { platform: "web", subscription, topics: ["new"] } }),
        call(`PATCH ${path}${id}/`, { body: { management_secret, topics: ["old"] } }),
        call(`DELETE ${path}${id}/`, { body: { management_secret } }),
      ]);
      expect([200, 201]).toContain(anew.status);
      for (const { status } of [changed, removed]) expect([200, 404]).toContain(status);
      const own = { management_secret: anew.data.management_secret };
      const stands = await call<RegistrationReply>(`PATCH ${path}${anew.data.id}/`, { body: own });
      expect([stands.status, stands.data.topics]).toEqual([200, ["new"]]);
    }
  });
});
