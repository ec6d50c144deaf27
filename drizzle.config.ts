import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "sqlite",
  schema: [
    "./src/server/modules/**/table.ts",
    "./src/server/security/table.ts",
    "./src/server/db/server/table.ts",
    "./src/server/tls/acme/table.ts",
  ],
  out: "./drizzle",
});
