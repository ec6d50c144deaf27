import manifest from "../../../package.json" with { type: "json" };

// The build defines these; they do not exist when Bun runs the source.
declare const BODEGA_VERSION: string;
declare const BODEGA_COMMIT: string;

export const buildInfo = {
  version: typeof BODEGA_VERSION === "string" ? BODEGA_VERSION : manifest.version,
  commit: typeof BODEGA_COMMIT === "string" ? BODEGA_COMMIT : "source",
  bun: Bun.version,
  platform: `${process.platform}-${process.arch}`,
};
