import { address, go } from "../address.js";
import { badge, page, toast } from "../dom.js";
import { fold, form, given } from "../form.js";
import { drawList, row, searchForm } from "../list.js";
import { readMe, shop } from "../store.js";
import { language, t } from "../words.js";

export async function show({ query, signal }) {
  const q = query.get("q");
  return page(
    t("customers.title"),
    searchForm("customers", { q, word: "customers.search" }),
    await drawList(shop.users.list({ limit: 25, q }, { signal }), drawUser),
    (await readMe()).role === "owner" && fold(t("invite.open"), form("invite", invite)),
  );
}

function drawUser({ id, name, email, role, status }) {
  return row(
    address("customers", id),
    name ?? email,
    name ? email : "",
    role !== "customer" && badge(`role.${role}`, "is-open"),
    status === "disabled" && badge("customer.disabled"),
  );
}

/** Invites a colleague, who gets a mail with a code to set a password. */
async function invite(values) {
  const { id, email } = await shop.users.invite({ ...given(values), role: "staff" }, { query: { lang: language() } });
  go(address("customers", id));
  toast(t("invite.done", { email }));
}
