interface StaffMail {
  kind: string;
  /** The role of the recipient, if it is a user. */
  role: string | null;
  namespace: string;
  email: string;
  values: Record<string, string>;
}

/** The page of the back office that a mail to staff leads to; undefined for other mail. */
export function backOfficeLink(base: string, { kind, role, namespace, email, values }: StaffMail): string | undefined {
  const start = `${base}/back-office/?${new URLSearchParams({ store: namespace })}#/`;
  const isStaff = role === "staff" || role === "owner";
  // Browsers send nothing behind the # to a server, so the code does not get into logs.
  if (isStaff && ["invitation", "reset_code"].includes(kind))
    return `${start}reset?${new URLSearchParams({ email, code: values.code ?? "" })}`;
  if (["new_order", "needs_attention"].includes(kind)) return `${start}orders?q=${values.number}`;
  return kind === "low_stock" ? start : undefined;
}
