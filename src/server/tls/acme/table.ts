import { sql } from "drizzle-orm";
import { check, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Certificates that servers obtain. All servers of a database share a row: one renews, and each answers challenges. */
export const acmeCertificates = sqliteTable(
  "acme_certificates",
  {
    /** The URL of the certificate authority's directory, a space, and the names, separated by commas. */
    id: text("id").primaryKey(),
    /** Certificate chain and private key in PEM, encrypted; null until the first is obtained. */
    sealed: text("sealed"),
    /** JSON object: the answer to each open challenge, by token. */
    challenges: text("challenges").notNull().default("{}"),
    /** When to check again. A server that renews sets this to the end of its lease. */
    nextAt: text("next_at").notNull(),
    failures: integer("failures").notNull().default(0),
    /** JSON object: `message`, `remedy` and `email` of the last failure; null after a success. */
    failure: text("failure"),
  },
  (t) => [check("acme_certificates_json", sql`json_valid(${t.challenges})`)],
);
