import { backups } from "./backups.ts";
import type { EnvironmentCheck } from "./check.ts";
import { clock } from "./clock.ts";
import { directory, files } from "./data-dir.ts";
import { disk } from "./disk.ts";
import { keys } from "./keys.ts";
import { mail } from "./mail.ts";
import { publicUrl } from "./public-url.ts";
import { push } from "./push.ts";
import { secretKey } from "./secret-key.ts";
import { server } from "./server.ts";
import { accounts, stores } from "./stores.ts";
import { tls } from "./tls.ts";
import { webhooks } from "./webhooks.ts";

/** Checks of the data directory, which run before its database is opened. */
export const directoryChecks: readonly EnvironmentCheck[] = [directory, files, disk];

/** All other checks of the environment. They run side by side. */
export const serverChecks: readonly EnvironmentCheck[] = [
  ...[server, secretKey, clock, backups, mail, tls, publicUrl],
  ...[stores, accounts, keys, push, webhooks],
];
