import { h, take } from "../dom.js";
import { formatDate, t } from "../words.js";

export const drawParcels = ({ fulfillments, items }) =>
  fulfillments.map(({ lines, tracking, created_at }) =>
    take("parcel", {
      title: t("parcel.sent", { date: formatDate(created_at) }),
      tracking: tracking && drawTracking(tracking),
      goods: lines.map(({ line_id, quantity }) => {
        const title = items.find(({ id }) => id === line_id)?.title;
        return h("li", {}, `${quantity} × ${title}`);
      }),
    }),
  );

function drawTracking({ carrier, number, url }) {
  const name = [carrier, number].filter(Boolean).join(" ") || t("parcel.track");
  return url ? h("a", { href: url, target: "_blank", rel: "noreferrer" }, t("parcel.follow", { name })) : name;
}
