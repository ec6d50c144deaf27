import type { RestorePlan } from "../../../server/backup/restore/restore.ts";
import type { Console } from "../../terminal/console.ts";
import { formatValue } from "../../terminal/output.ts";

const names = ["stores", "users", "products", "orders", "last_act_at"] as const;

/** Renders the content of a backup beside the present database, or above it on a narrow terminal. Nothing is cut. */
export async function renderComparison(
  { columns, color }: Pick<Console, "columns" | "color">,
  { fetched, present }: Pick<RestorePlan, "fetched" | "present">,
): Promise<string> {
  const { manifest, inspection } = fetched;
  const rows = [
    { what: "created at", backup: formatValue(manifest?.created_at), here: undefined },
    { what: "schema", backup: formatValue(inspection.schema.at(-1)?.name), here: undefined },
    ...names.map((name) => ({
      what: name === "last_act_at" ? "last audit entry" : name,
      backup: formatValue(inspection.contents[name]),
      here: present === null ? "-" : formatValue(present[name]),
    })),
  ];
  const { renderFields, renderTable } = await import("../../terminal/table.ts");
  const table = renderTable(
    rows,
    [
      { header: "", value: ({ what }) => what },
      { header: "BACKUP", value: ({ backup }) => backup },
      { header: "PRESENT", value: ({ here = "" }) => here },
    ],
    { width: undefined, color },
  );
  if (columns === undefined || table.split("\n").every((line) => Bun.stringWidth(line) <= columns)) return table;
  const section = (title: string, fields: [string, string][]) =>
    `${title}\n${renderFields(fields, { width: columns, color })}`;
  const here = rows.flatMap(({ what, here }): [string, string][] => (here === undefined ? [] : [[what, here]]));
  return [
    section(
      "BACKUP",
      rows.map(({ what, backup }) => [what, backup]),
    ),
    section("PRESENT", present === null ? [["none", ""]] : here),
  ].join("\n");
}
