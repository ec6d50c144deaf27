import type { Database } from "../../db/session.ts";
import type { Check, Finding } from "./check.ts";

/** The file is sound, and no row refers to one that is missing. Database servers look after their own files. */
export const databaseFile: Check = {
  name: "database",
  remedy: "The file is damaged: stop the server, keep a copy of the file, and restore the last backup.",
  isGlobal: true,
  async find({ db }) {
    const isLocal = ["file", "memory"].includes((db as Partial<Database>).kind ?? "");
    if (!isLocal) return [];
    const { rows: faults } = await db.execute("PRAGMA integrity_check");
    const { rows: orphans } = await db.execute("PRAGMA foreign_key_check");
    return [
      ...faults
        .map(({ integrity_check: text }) => String(text))
        .filter((text) => text !== "ok")
        .map((text) => broken("file", "integrity", text, "ok")),
      ...orphans.map(({ table, rowid, parent }) => broken(`${table} ${rowid}`, String(parent), "missing", "present")),
    ];
  },
};

function broken(record: string, field: string, found: string, expected: string): Finding {
  return { tenant_id: null, record, field, found, expected, fixable: 0 };
}
