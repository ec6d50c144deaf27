import { expect, test } from "bun:test";
import {
  listRegistrations,
  type RegistrationFilter,
  removeRegistration,
} from "../../src/server/modules/notifications/registrations/registrations.ts";
import { openAccount } from "../support/account.ts";
import { addDevice } from "../support/devices.ts";
import { tenantContext } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { onEachDatabase } from "../support/suite.ts";

onEachDatabase((suite) => {
  test("a store lists and removes its own devices only, with any filter", async () => {
    const [ours, theirs] = [await suite.shop(), await suite.shop()];
    const [ctx, elsewhere] = [await tenantContext(ours), await tenantContext(theirs)];
    const { id: userId } = await openAccount(ours);
    const { id: stranger } = await openAccount(theirs);
    const mine = await addDevice(ours, { topics: ["sale"], userId });
    const other = await addDevice(theirs, { topics: ["sale"], userId: stranger });
    const idsOf = async (filter: RegistrationFilter) =>
      (await listRegistrations(ctx, filter)).map((device) => device.registration_id);
    const filters: RegistrationFilter[] = [{}, { topic: "sale" }, { platform: "android" }, { userId }];
    for (const filter of filters) expect([filter, await idsOf(filter)]).toEqual([filter, [mine]]);
    expect(await idsOf({ userId: stranger })).toEqual([]);
    expect(await failureOf(removeRegistration(ctx, other))).toMatchObject({ code: 5301 });
    expect(await listRegistrations(elsewhere)).toHaveLength(1);
    expect(await removeRegistration(ctx, mine)).toMatchObject({ registration_id: mine });
    expect(await idsOf({})).toEqual([]);
  });
});
