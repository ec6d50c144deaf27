import { sql } from "drizzle-orm";
import { check, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Certificates that servers obtain. All servers of a database share the row: one renews, and any can answer. */
export const acmeCertificates = sqliteTable(
  "acme_certificates",
  {
    /** The URL of the certificate authority's directory, a space, and the names, separated by commas. */
    id: text("id").primaryKey(),
    /** Certificate chain and private key, encrypted; null before the first. */
    sealed: text("sealed"),
    /** JSON object of the open challenges: what to answer for each token. */
    challenges: text("challenges").notNull().default("{}"),
    /** When to check again. A server that works on the row sets it to the end of its lease. */
    nextAt: text("next_at").notNull(),
    failures: integer("failures").notNull().default(0),
    /** JSON: message and remedy of the last failure. */
    failure: text("failure"),
  },
  (t) => [check("acme_certificates_json", sql`json_valid(${t.challenges})`)],
);
