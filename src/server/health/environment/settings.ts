import { findUnknownSettings } from "../../config/unknown-settings.ts";
import { type EnvironmentCheck, finding } from "../finding.ts";

export const settings = {
  id: "settings",
  about: "Every BODEGA_ variable of the environment and of bodega.env is a setting.",
  async run({ config: { dataDir }, env }) {
    const found = findUnknownSettings(env, dataDir);
    return found.map(({ subject, message }) => finding("warning", subject, message, "Correct or remove it."));
  },
} satisfies EnvironmentCheck;
