import { readServerStatus } from "../../monitoring/control-socket.ts";
import { formatDuration } from "../../values/duration.ts";
import { type EnvironmentCheck, finding } from "../finding.ts";

/** A place that answers slowly is behind for longer than usual, but not for so long. */
export const maxLagSeconds = 30;

export const replication = {
  id: "replication",
  about: "The replica has everything up to the last seconds.",
  async run({ config: { dataDir, databaseUrl }, timeoutMs, command }) {
    if (databaseUrl !== undefined) return [];
    const status = await readServerStatus(dataDir, AbortSignal.timeout(timeoutMs));
    const { place, lag_seconds: lag = 0, failure } = status?.replication ?? {};
    if (place === undefined || (!failure && lag <= maxLagSeconds)) return [];
    const reason = failure ? ` Since ${failure.since} it cannot be written: ${failure.message}` : "";
    const message = `The replica in ${place} is ${formatDuration(lag * 1000)} behind.${reason}`;
    const remedy = `Check that place. Until it works again, make a backup elsewhere: ${command("db backup")}`;
    return [finding("error", place, message, remedy)];
  },
} satisfies EnvironmentCheck;
