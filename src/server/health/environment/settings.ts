import { findUnknownSettings } from "../../config/unknown-settings.ts";
import { type EnvironmentCheck, finding } from "../finding.ts";

/** Every variable of the environment and every line of bodega.env sets something. */
export const settings = {
  id: "settings",
  async run({ config: { dataDir }, env }) {
    const found = findUnknownSettings(env, dataDir);
    return found.map(({ subject, message }) => finding("warning", subject, message, "Correct or remove it."));
  },
} satisfies EnvironmentCheck;
