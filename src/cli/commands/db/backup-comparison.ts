import type { RestorePlan } from "../../../server/backup/restore/restore.ts";
import type { Console } from "../../terminal/console.ts";
import { formatValue } from "../../terminal/output.ts";

const names = ["stores", "users", "products", "orders", "last_act_at"] as const;

/** Renders the content of a backup beside the present database. Nothing is cut. */
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
  const { renderTable } = await import("../../terminal/table.ts");
  return renderTable(
    rows,
    [
      { header: "", value: ({ what }) => what, whole: true },
      { header: "BACKUP", value: ({ backup }) => backup, whole: true },
      { header: "PRESENT", value: ({ here = "" }) => here, whole: true },
    ],
    { width: columns, color },
  );
}
