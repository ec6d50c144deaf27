import type { findRecipient } from "./compose.ts";

type Found = NonNullable<Awaited<ReturnType<typeof findRecipient>>>;

/** The back-office page that a mail to staff links to; empty for other mail, and without the server's URL (`base`). */
export function backOfficeLink(
  base: string | undefined,
  { kind, store: { namespace }, to }: Found,
  values: Record<string, string>,
): string {
  if (base === undefined) return "";
  const start = `${base}/back-office/?${new URLSearchParams({ store: namespace })}#/`;
  const isStaff = to?.role === "staff" || to?.role === "owner";
  // Browsers send nothing behind the # to a server, so the code does not get into logs.
  if (isStaff && ["invitation", "reset_code"].includes(kind))
    return `${start}reset?${new URLSearchParams({ email: to.email, code: values.code ?? "" })}`;
  if (kind === "low_stock" || values.reason === "unknown_withdrawal") return start;
  return ["new_order", "needs_attention"].includes(kind) ? `${start}orders?q=${values.number}` : "";
}
