import { ServerDatabase } from "../../db/server/server-database.ts";
import { type EnvironmentCheck, finding } from "../finding.ts";

/** The words of a server's log and of doctor about a libSQL server that answers too early. */
export const notDurable =
  "The libSQL server acknowledges writes before they are on its disk, so a crash of its machine can lose orders.";

export const durability = {
  id: "durability",
  about: "The libSQL server acknowledges a write only when it is on its disk.",
  async run({ ctx, config: { databaseUrl } }) {
    if (!(ctx?.db instanceof ServerDatabase) || (await ctx.db.isDurable())) return [];
    const remedy = "Set its durability_mode to strong, after each of its starts.";
    return [finding("error", databaseUrl ?? "database", notDurable, remedy)];
  },
} satisfies EnvironmentCheck;
