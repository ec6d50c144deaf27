import { beforeAll, expect, test } from "bun:test";
import type { Ctx } from "../../src/server/context.ts";
import { createTenant, getTenant } from "../../src/server/modules/tenants/service.ts";
import { resolveUserId } from "../../src/server/modules/users/list.ts";
import { addWebhook, resolveWebhookId } from "../../src/server/modules/webhooks/service.ts";
import { newNamespace, tenantContext } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { onDatabase } from "../support/suite.ts";

onDatabase("file", (suite) => {
  let here: Ctx;
  let there: Ctx;
  beforeAll(async () => {
    [here, there] = await Promise.all([tenantContext(await suite.shop()), tenantContext(await suite.shop())]);
  });

  test("a webhook can be named by its id, or by its complete address if only one webhook has it", async () => {
    const url = "https://twice.example.com/in";
    const { webhook_id: first } = await addWebhook(here, { url, allowPrivate: true });
    for (const name of [first, url, "https://TWICE.example.com/in"]) {
      expect(await resolveWebhookId(here, name)).toBe(first);
    }
    for (const name of [first, url]) {
      expect(await failureOf(resolveWebhookId(there, name))).toMatchObject({ code: 5301 });
    }
    const { webhook_id: second } = await addWebhook(here, { url, allowPrivate: true });
    expect(await failureOf(resolveWebhookId(here, url))).toMatchObject({
      code: 5302,
      remedy: `Name one by its id: ${first}, ${second}`,
    });
    expect(await resolveWebhookId(here, second)).toBe(second);
  });

  test("a very long name is refused at once", async () => {
    const failure = (await failureOf(resolveUserId(here, `${"a".repeat(1_000_000)}@example.com`))) as { code: number };
    expect(failure.code).toBe(5301);
  });

  test("an unknown store gets the most similar namespace as a suggestion", async () => {
    const namespace = `${newNamespace()}-shop`;
    await createTenant(suite.app.system, { namespace });
    expect(await failureOf(getTenant(suite.app.system, namespace.replace("shop", "shpo")))).toMatchObject({
      code: 5301,
      remedy: `Did you mean ${namespace}? List them all: bodega tenant list`,
    });
  });
});
