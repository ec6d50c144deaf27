import { manual } from "./manual/manual.ts";
import type { ProviderKind } from "./provider.ts";
import { stripe } from "./stripe/provider.ts";

/** All ways to pay. The names are those of the column `provider`. */
export const providers = { manual, stripe } satisfies Record<string, ProviderKind>;
