import { go } from "../address.js";
import { badge, fact, facts, h, page, save, section, toast } from "../dom.js";
import { actionButton, coded } from "../errors.js";
import { fold, form } from "../form.js";
import { drawList } from "../list.js";
import { addressLines, mailLink, orderRow } from "../orders/names.js";
import { replace } from "../replace.js";
import { readMe, shop } from "../store.js";
import { formatDate, formatDay, t } from "../words.js";

export async function show({ id, signal }) {
  const [user, me] = await Promise.all([shop.users.get(id, {}, { signal }), readMe()]);
  const orders = await drawList(shop.orders.list({ customer_id: id, limit: 10 }, { signal }), orderRow);
  return draw(user, me, orders);
}

function draw(user, me, orders) {
  const { id, name, email, phone, role, status, addresses, created_at: at, last_login_at: last } = user;
  const canManage = id !== me.id && (me.role === "owner" || role === "customer");
  const content = page(
    name ?? email,
    h(
      "p.badges",
      role !== "customer" && badge(`role.${role}`, "is-open"),
      status === "disabled" && badge("customer.disabled", "is-alert"),
    ),
    facts(
      fact("buyer.email", mailLink(email)),
      fact("buyer.phone", phone),
      fact("customer.since", formatDay(at)),
      fact("customer.lastLogin", last && formatDate(last)),
      addresses.map((one) => fact("buyer.to", addressLines(one))),
    ),
    section("orders.title", orders),
    canManage && drawManagement(user, (next) => replace(content, draw(next, me, orders), t("product.saved"))),
  );
  return content;
}

function drawManagement({ id, email, status, version }, redraw) {
  const next = status === "active" ? "disabled" : "active";
  const change = async () => redraw(await shop.users.update(id, { status: next }, { ifVersion: version }));
  const download = async () => {
    save(`${id}.json`, JSON.stringify(await shop.users.export(id), null, 2), "application/json");
  };
  const erase = async ({ typed }) => {
    if (typed.toLowerCase() !== email.toLowerCase()) throw coded("otherEmail");
    await shop.users.erase(id);
    go("#/customers", { replace: true });
    toast(t("customer.erased"));
  };
  return section(
    "customer.data",
    h("p.buttons", actionButton("customer.export", download), actionButton(`customer.set.${next}`, change)),
    fold(t("customer.erase"), h("p", t("customer.eraseHelp")), form("erase", erase, { email })),
  );
}
