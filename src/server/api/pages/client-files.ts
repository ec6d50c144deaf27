import { join } from "node:path";

declare const BODEGA_CLIENT_MODULE: string;
declare const BODEGA_CLIENT_TYPES: string;

const fromSource = () => import(join(import.meta.dir, "../../../../scripts/build-client.ts"));

/** The executable contains these files. From source, they are built at the first request. */
export const clientFiles = {
  "/client.js": async (): Promise<string> =>
    typeof BODEGA_CLIENT_MODULE === "string" ? BODEGA_CLIENT_MODULE : (await fromSource()).bundleClient(),
  "/client.d.ts": async (): Promise<string> =>
    typeof BODEGA_CLIENT_TYPES === "string" ? BODEGA_CLIENT_TYPES : (await fromSource()).bundleClientTypes(),
};
