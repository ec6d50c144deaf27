import { readLast } from "../../backup/last.ts";
import { rehearsedPlace } from "../../backup/location.ts";
import { replicaDamage } from "../../replication/segment.ts";
import { formatDuration } from "../../values/duration.ts";
import { type EnvironmentCheck, finding } from "../finding.ts";

const maxAgeMs = 3 * 86_400_000;

export const rehearsal = {
  id: "rehearsal",
  about: "The replica or the newest backup was restored and checked within the last days.",
  async run({ config, now, command }) {
    const { last_success: last, last_failure: failure } = readLast(config.dataDir, "rehearsal");
    const place = rehearsedPlace(config) ?? last?.place;
    const ageMs = last ? now() - Date.parse(last.at) : 0;
    const held = `${last ? `The last one that succeeded, from ${last.place}, was ${formatDuration(ageMs)} ago` : "None has succeeded yet"}.`;
    const isDamage = failure?.message.startsWith(replicaDamage);
    const remedy = `${isDamage ? "Run the server, which then makes a new snapshot there, and rehearse: " : ""}${command("db rehearse")}`;
    const describe = (severity: "note" | "warning" | "error", message: string) =>
      finding(severity, place ?? config.dataDir, message, remedy);
    if (failure)
      return [describe("error", `The rehearsal of a restore failed at ${failure.at}: ${failure.message} ${held}`)];
    if (place === undefined) return [];
    return [describe(ageMs > maxAgeMs ? "warning" : "note", `Restores are rehearsed once a day. ${held}`)];
  },
} satisfies EnvironmentCheck;
