import { afterAll, expect } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recordResult } from "../../src/server/backup/location.ts";
import type { AcmeConfig } from "../../src/server/config/acme-config.ts";
import { readConfig } from "../../src/server/config/config.ts";
import { checkTls } from "../../src/server/health/environment/server.ts";
import { updateTenant } from "../../src/server/modules/tenants/service.ts";
import { createAlerts } from "../../src/server/runtime/alerts.ts";
import { openRow } from "../../src/server/tls/acme/row.ts";
import { readOutbox } from "../support/mail.ts";
import { makeCertificate } from "../support/make-certificate.ts";
import { onDatabase } from "../support/suite.ts";

const dataDir = mkdtempSync(join(tmpdir(), "bodega-alerts-"));
afterAll(() => rmSync(dataDir, { recursive: true }));

const program = {
  ...{ env: {}, version: "0.0.0-test", uid: undefined, timeoutMs: 5000, tenant: null },
  command: (words: string) => `bodega ${words}`,
};

onDatabase("file", (suite) => {
  suite.test(
    "an error of backups is logged once; if it lasts for two checks, each address gets one mail a day",
    async () => {
      const { app } = suite;
      const shops = [await suite.shop(), await suite.shop()];
      for (const [n, { namespace }] of shops.entries()) {
        const notify = JSON.stringify(["ops@example.com", `owner-${n}@example.com`]);
        await updateTenant(app.system, namespace, { notify });
      }
      const { now } = app.clock;
      const config = readConfig({ "data-dir": dataDir, "backup-every": "10d" }, {});
      const logged: string[] = [];
      const check = createAlerts({ ...program, ctx: app.system, config, now }, (level, text) =>
        logged.push(`${level} ${text}`),
      );
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
      expect(logged).toEqual([expect.stringMatching(/^error The last backup failed at /)]);
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

  suite.test("a mail reports a certificate that will soon expire without renewal, with the reason", async () => {
    const { app } = suite;
    const { namespace } = await suite.shop();
    await updateTenant(app.system, namespace, { notify: JSON.stringify(["certs@example.com"]) });
    const { now } = app.clock;
    const config = readConfig({ "data-dir": dataDir, acme: "shop.example.com" }, {});
    const { acme } = config as { acme: AcmeConfig };
    const row = openRow(app.db, acme);
    expect(await row.claim("", now())).toBe(true);
    expect(await row.claim("", now())).toBe(false);
    const failure = JSON.stringify({ message: "A CAA record forbids it.", remedy: "Change it." });
    await row.save({ nextAt: now(), sealed: "sealed", failures: 1, failure });
    const check = createAlerts({ ...program, ctx: app.system, config, now }, () => {});
    const mailed = async (days: number) => {
      const { cert, key } = makeCertificate({ names: ["shop.example.com"], from: 0, until: now() + days * 86_400_000 });
      writeFileSync(acme.file, cert + key, { mode: 0o600 });
      await check();
      await check();
      const mails = await readOutbox(app, namespace);
      return mails.filter(({ to }) => (to as { email: string }).email === "certs@example.com");
    };
    expect(await mailed(30)).toEqual([]);
    const values = { message: expect.stringContaining("expires in 9 days"), remedy: "A CAA record forbids it." };
    expect(await mailed(9.5)).toMatchObject([{ kind: "server_alert", values }]);
    // Even if no renewal failed, browsers reject an expired certificate.
    await row.save({ nextAt: now(), sealed: "sealed" });
    await mailed(-1);
    const severities = await Array.fromAsync(checkTls({ ...program, ctx: app.system, config, now }));
    expect(severities.map(({ severity }) => severity)).toEqual(["error"]);
    const others = readConfig({ "data-dir": dataDir }, {});
    const found = await Array.fromAsync(checkTls({ ...program, ctx: app.system, config: others, now }));
    const message = expect.stringContaining(`${acme.file} was not checked, because --acme`);
    expect(found).toEqual([expect.objectContaining({ severity: "note", message })]);
  });

  suite.test("a mail reports that a certificate in the operator's files is about to expire", async () => {
    const { app } = suite;
    const { namespace } = await suite.shop();
    await updateTenant(app.system, namespace, { notify: JSON.stringify(["files@example.com"]) });
    const { now } = app.clock;
    const [cert, key] = ["shop.crt", "shop.key"].map((name) => join(dataDir, name)) as [string, string];
    const pair = makeCertificate({ from: 0, until: now() + 3.5 * 86_400_000 });
    writeFileSync(cert, pair.cert);
    writeFileSync(key, pair.key, { mode: 0o600 });
    const config = readConfig({ "data-dir": dataDir, "tls-cert": cert, "tls-key": key }, {});
    const check = createAlerts({ ...program, ctx: app.system, config, now }, () => {});
    await check();
    await check();
    const mails = (await readOutbox(app, namespace)).filter(
      ({ to }) => (to as { email: string }).email === "files@example.com",
    );
    const message = expect.stringContaining("expires in 3 days");
    expect(mails).toMatchObject([{ kind: "server_alert", values: { message, remedy: expect.stringContaining(cert) } }]);
  });
});
