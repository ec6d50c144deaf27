import { readLast } from "../../backup/last.ts";
import { databaseFile } from "../../config/data-dir.ts";
import { readServerStatus } from "../../monitoring/control-socket.ts";
import { describeShared } from "../../replication/check-place.ts";
import { requireNewest } from "../../replication/generation.ts";
import { openPlace } from "../../replication/place.ts";
import { readReplicaState } from "../../replication/state.ts";
import { formatDuration } from "../../values/duration.ts";
import { type EnvironmentCheck, type Finding, finding } from "../finding.ts";

/** A place that answers slowly is behind for longer than usual, but not for so long. */
export const maxLagSeconds = 30;

export const replication = {
  id: "replication",
  about: "The replica has everything up to the last seconds, is on another disk, and has not disappeared.",
  async run({ config, now, timeoutMs, command }) {
    const { dataDir, databaseUrl, replicateTo, replicateKeepMs } = config;
    if (databaseUrl !== undefined) return [];
    const status = await readServerStatus(dataDir, AbortSignal.timeout(timeoutMs));
    const { place = replicateTo, lag_seconds: lag = 0, failure } = status?.replication ?? {};
    if (place === undefined) return [];
    const found: Finding[] = [];
    const shared = await describeShared(place, dataDir);
    if (shared) found.push(finding("warning", place, shared, "Use another disk, machine, or S3."));
    const known = readReplicaState(databaseFile(dataDir), place);
    if (status === null && known !== undefined) {
      const { message: unsent } = readLast(dataDir, "left").last_failure ?? {};
      if (unsent) found.push(finding("error", place, `${unsent}.`, command("serve")));
      const asking = requireNewest(openPlace(place, config, timeoutMs), known.generation);
      await asking.catch((error) => found.push(finding("error", place, error.message, error.remedy)));
    }
    const { last_failure: loss } = readLast(dataDir, "replica");
    if (loss && now() - Date.parse(loss.at) < replicateKeepMs && loss.message.includes(place)) {
      const remedy =
        "Mount that disk and restart the server, or stop what removes objects. Earlier moments may be lost.";
      found.push(finding("warning", place, `${loss.at}: ${loss.message}`, remedy));
    }
    if (!failure && lag <= maxLagSeconds) return found;
    const reason = failure ? ` Since ${failure.since} it cannot be written: ${failure.message}` : "";
    const message = `The replica in ${place} is ${formatDuration(lag * 1000)} behind.${reason}`;
    const remedy = `Check that place. Until it works again, make a backup elsewhere: ${command("db backup")}`;
    return [...found, finding("error", place, message, remedy)];
  },
} satisfies EnvironmentCheck;
