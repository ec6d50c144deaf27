import type { BeforeCommit } from "../db/group-commit/writer.ts";
import { auditLinking } from "../modules/audit/linking.ts";
import { searchIndexing } from "../modules/catalogue/list/search.ts";

/** What each group needs before its COMMIT: links of new audit rows, and search words of products. */
export const beforeCommit: BeforeCommit = {
  get reads() {
    return [auditLinking.read, searchIndexing.read];
  },
  finish: ([added, changed]) => [...auditLinking.finish(added), ...searchIndexing.finish(changed)],
};
