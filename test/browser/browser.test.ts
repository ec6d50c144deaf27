import { afterAll, afterEach, beforeAll, describe, expect } from "bun:test";
import { describeBackOffice } from "./back-office.ts";
import { describeCard } from "./card.ts";
import { describeCatalogue } from "./catalogue.ts";
import { chromium } from "./chromium.ts";
import { describeCustomer } from "./customer.ts";
import { describeGuest } from "./guest.ts";
import { describeOrigins } from "./origins.ts";
import { describeReference } from "./reference.ts";
import { useStage } from "./stage.ts";

// All browser tests are in one file, so that they share one browser and one server.
describe.skipIf(!chromium)("Chromium", () => {
  const { stage, open, close } = useStage();
  beforeAll(open, 60_000);
  afterAll(close);
  // Each test also fails if a page reports an error, or if a request leaves the machine.
  afterEach(async () => expect(await stage.chromium.endVisits()).toEqual([]));

  describeReference(stage);
  describeBackOffice(stage);
  describeCatalogue(stage);
  describeCustomer(stage);
  describeGuest(stage);
  describeCard(stage);
  // The last tests revoke the key.
  describeOrigins(stage);
});
