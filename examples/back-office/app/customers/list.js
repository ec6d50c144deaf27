import { address, go } from "../address.js";
import { badge, page } from "../dom.js";
import { field, fold, form } from "../form.js";
import { drawList, row } from "../list.js";
import { searchForm } from "../search.js";
import { readMe, shop } from "../store.js";
import { language, t } from "../words.js";

export async function show({ query, signal }) {
  const { q = "" } = Object.fromEntries(query);
  const list = shop.users.list({ limit: 25, ...(q && { q }) }, { signal });
  return page(
    t("customers.title"),
    searchForm("customers", { q, word: "customers.search" }),
    await drawList(list, drawUser),
    (await readMe()).role === "owner" && drawInvitation(),
  );
}

function drawUser({ id, name, email, role, status }) {
  const marks = [
    role !== "customer" && badge(`role.${role}`, "is-open"),
    status === "disabled" && badge("customer.disabled", "is-quiet"),
  ];
  return row(address("customers", id), name ?? email, name ? email : "", marks.filter(Boolean));
}

/** A colleague gets a mail with a code to choose a password. */
function drawInvitation() {
  return fold(
    "invite.open",
    form(
      "invite.submit",
      async ({ email, name }) => {
        const { id } = await shop.users.create({ email, role: "staff", ...(name && { name }) });
        await shop.auth.forgotPassword({ email, language: language() });
        go(address("customers", id));
      },
      field("email", "signIn.email", { type: "email", required: true, hint: t("invite.hint") }),
      field("name", "buyer.name", { maxlength: 200 }),
    ),
  );
}
