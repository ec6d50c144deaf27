import start from "../../../drizzle/0000_start.sql" with { type: "text" };
import revision from "../../../drizzle/0001_revision.sql" with { type: "text" };
import signIn from "../../../drizzle/0002_sign_in.sql" with { type: "text" };
import appendOnlyAudit from "../../../drizzle/0003_append_only_audit.sql" with { type: "text" };
import store from "../../../drizzle/0004_store.sql" with { type: "text" };
import storeTriggers from "../../../drizzle/0005_store_triggers.sql" with { type: "text" };
import content from "../../../drizzle/0006_content.sql" with { type: "text" };
import contentTriggers from "../../../drizzle/0007_content_triggers.sql" with { type: "text" };
import rejectedOrigins from "../../../drizzle/0008_rejected_origins.sql" with { type: "text" };

/** One step of the schema. `name` is its file's name without the ending. */
export interface Migration {
  name: string;
  sql: string;
}

/** All steps, oldest first; each new file of drizzle/ is added here, so that the executable carries it. */
export const migrations: readonly Migration[] = [
  { name: "0000_start", sql: start },
  { name: "0001_revision", sql: revision },
  { name: "0002_sign_in", sql: signIn },
  { name: "0003_append_only_audit", sql: appendOnlyAudit },
  { name: "0004_store", sql: store },
  { name: "0005_store_triggers", sql: storeTriggers },
  { name: "0006_content", sql: content },
  { name: "0007_content_triggers", sql: contentTriggers },
  { name: "0008_rejected_origins", sql: rejectedOrigins },
];
