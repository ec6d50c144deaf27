import { accounts } from "./accounts.ts";
import { backups } from "./backups.ts";
import { clock } from "./clock.ts";
import { directory } from "./directory.ts";
import { disk } from "./disk.ts";
import { files } from "./files.ts";
import type { Checkup } from "./finding.ts";
import { keys } from "./keys.ts";
import { mail } from "./mail.ts";
import { proxy } from "./proxy.ts";
import { publicAddress } from "./public-address.ts";
import { push } from "./push.ts";
import { schema } from "./schema.ts";
import { secret } from "./secret.ts";
import { server } from "./server.ts";
import { size } from "./size.ts";
import { stores } from "./stores.ts";
import { tls } from "./tls.ts";
import { webhooks } from "./webhooks.ts";

/** Looks at the folder, before the database in it is opened. */
export const folderCheckups: readonly Checkup[] = [directory, files, disk];

/** Everything else, side by side. */
export const checkups: readonly Checkup[] = [
  schema,
  size,
  server,
  secret,
  clock,
  backups,
  mail,
  tls,
  publicAddress,
  proxy,
  stores,
  accounts,
  keys,
  push,
  webhooks,
];
