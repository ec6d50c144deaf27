import { go } from "../address.js";
import { badge, fact, facts, focusOn, h, page, section, toast } from "../dom.js";
import { actionButton, coded } from "../errors.js";
import { field, fold, form } from "../form.js";
import { drawList } from "../list.js";
import { addressLines } from "../orders/address-lines.js";
import { orderRow } from "../orders/names.js";
import { save } from "../save.js";
import { readMe, shop } from "../store.js";
import { formatDate, t } from "../words.js";

export async function show({ id, signal }) {
  const [user, me] = await Promise.all([shop.users.get(id, {}, { signal }), readMe()]);
  const orders = await drawList(shop.orders.list({ customer_id: id, limit: 10 }, { signal }), orderRow);
  return draw(user, me, orders);
}

function draw(user, me, orders) {
  const { id, name, email, phone, role, status, addresses, created_at: at, last_login_at: last } = user;
  const canManage = id !== me.id && (me.role === "owner" || role === "customer");
  const redraw = (next) => {
    const fresh = draw(next, me, orders);
    content.replaceWith(fresh);
    focusOn(fresh.querySelector("h1"));
    toast(t("product.saved"));
  };
  const content = page(
    name ?? email,
    h(
      "p",
      { class: "badges" },
      role !== "customer" && badge(`role.${role}`, "is-open"),
      status === "disabled" && badge("customer.disabled", "is-alert"),
    ),
    facts(
      fact("buyer.email", email),
      fact("buyer.phone", phone),
      fact("customer.since", formatDate(at, { dateStyle: "medium" })),
      fact("customer.lastLogin", last && formatDate(last)),
      addresses.map((one) => fact("buyer.to", addressLines(one))),
    ),
    section(t("orders.title"), orders),
    canManage && drawManagement(user, redraw),
  );
  return content;
}

function drawManagement({ id, email, status, version }, redraw) {
  const next = status === "active" ? "disabled" : "active";
  const change = async () => redraw(await shop.users.update(id, { status: next }, { ifVersion: version }));
  return section(
    t("customer.data"),
    h(
      "p",
      { class: "buttons" },
      actionButton("customer.export", async () => {
        save(`${id}.json`, JSON.stringify(await shop.users.export(id), null, 2), "application/json");
      }),
      actionButton(`customer.set.${next}`, change),
    ),
    fold(
      "customer.erase",
      h("p", {}, t("customer.eraseHelp")),
      form(
        "customer.eraseNow",
        async ({ typed }) => {
          if (typed.toLowerCase() !== email.toLowerCase()) throw coded("otherEmail");
          await shop.users.erase(id);
          go("#/customers", { replace: true });
          toast(t("customer.erased"));
        },
        field("typed", "customer.typeEmail", { required: true, autocomplete: "off", hint: email }),
      ),
    ),
  );
}
