import { isServerRunning } from "../../db/local/server-lock.ts";
import { lacksKey, readStandbyState } from "../../replication/standby.ts";
import { formatDuration } from "../../values/duration.ts";
import { quoteWord } from "../../values/shell-quote.ts";
import { type EnvironmentCheck, finding } from "../finding.ts";
import { maxLagSeconds } from "./replication.ts";

export const standby = {
  id: "standby",
  about: "A standby follows its server closely, and has its secret key.",
  async run({ config, now, timeoutMs, command }) {
    const known = readStandbyState(config.dataDir);
    if (known === undefined) return [];
    const { place, url, state, keyFingerprint } = known;
    const missing = `The secret key of the server is missing in ${config.dataDir}. Without it the standby cannot take over.`;
    const key = finding("error", "secret.key", missing, `Copy secret.key of the server to ${config.dataDir}.`);
    const found = lacksKey(config, keyFingerprint) ? [key] : [];
    if (!(await isServerRunning(config.dataDir))) {
      const age = state && formatDuration(now() - Date.parse(state.at));
      const message = `No standby runs on ${config.dataDir}: ${age ? `its copy is ${age} old` : "it has no copy yet"}.`;
      return [...found, finding("error", place, message, command(`standby --from ${quoteWord(place)}`))];
    }
    const tls = { rejectUnauthorized: false };
    const reply = await fetch(`${url}/health/ready`, { tls, signal: AbortSignal.timeout(timeoutMs) });
    const { error } = (await reply.json()) as { error: { message: string; details?: { message: string }[] } };
    const isClose = Number(error.details?.[0]?.message) <= maxLagSeconds;
    const advice = isClose ? null : "Read the log of the standby, and check that place.";
    return [...found, finding(isClose ? "note" : "error", place, error.message, advice)];
  },
} satisfies EnvironmentCheck;
