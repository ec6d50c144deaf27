import { afterAll, expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recordResult } from "../../src/server/backup/location.ts";
import { readConfig } from "../../src/server/config/config.ts";
import { updateTenant } from "../../src/server/modules/tenants/service.ts";
import { createAlerts } from "../../src/server/runtime/alerts.ts";
import { readOutbox } from "../support/mail.ts";
import { onDatabase } from "../support/suite.ts";

const dataDir = mkdtempSync(join(tmpdir(), "bodega-alerts-"));
afterAll(() => rmSync(dataDir, { recursive: true }));

onDatabase("file", (suite) => {
  suite.test(
    "a failing backup is mailed to each address once a day, if it lasts from one check to the next",
    async () => {
      const { app } = suite;
      const shops = [await suite.shop(), await suite.shop()];
      for (const [n, { namespace }] of shops.entries()) {
        const notify = JSON.stringify(["ops@example.com", `owner-${n}@example.com`]);
        await updateTenant(app.system, namespace, { notify });
      }
      const { now } = app.clock;
      const config = readConfig({ "data-dir": dataDir, "backup-every": "10d" }, {});
      const program = { env: {}, version: "0.0.0-test", uid: undefined, timeoutMs: 5000, tenant: null };
      const check = createAlerts({ ...program, ctx: app.system, config, now, command: (words) => `bodega ${words}` });
      const mails = async () => {
        const found = await Promise.all(shops.map(({ namespace }) => readOutbox(app, namespace)));
        return found.flat().map(({ kind, to, values }) => [kind, (to as { email: string }).email, values?.message]);
      };
      const fail = () => {
        const at = new Date(now()).toISOString();
        recordResult(dataDir, "backup", { last_failure: { at, place: dataDir, message: "No space left" } });
        return expect.stringContaining(`The last backup failed at ${at}: No space left`);
      };
      const message = fail();
      await check();
      expect(await mails()).toEqual([]);
      await check();
      await check();
      const once = ["ops@example.com", "owner-0@example.com", "owner-1@example.com"].map((to) => [
        "server_alert",
        to,
        message,
      ]);
      expect(await mails()).toEqual(once);
      app.clock.advance(86_400_000);
      await check();
      expect(await mails()).toHaveLength(6);
      const success = { at: new Date(now()).toISOString(), place: dataDir, bytes: 1 };
      recordResult(dataDir, "backup", { last_success: success, last_failure: null });
      await check();
      app.clock.advance(86_400_000);
      await check();
      expect(await mails()).toHaveLength(6);
    },
  );
});
