import type { ProviderKind } from "../provider.ts";

/** Bank transfers and cash. */
export const manual: ProviderKind = {};
