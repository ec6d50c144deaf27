import { invalidField } from "../../../errors.ts";
import { requireText } from "../../../values/fields.ts";
import type { Tracking } from "../change-model.ts";

/** Pages of carriers that show a parcel; `#` stands for the parcel's number. */
const pages: Readonly<Record<string, string>> = {
  dhl: "https://www.dhl.com/global-en/home/tracking.html?tracking-id=#",
  dpd: "https://tracking.dpd.de/status/en_US/parcel/#",
  gls: "https://gls-group.com/track/#",
  hermes: "https://www.myhermes.de/empfangen/sendungsverfolgung/sendungsinformation/#",
  ups: "https://www.ups.com/track?tracknum=#",
  fedex: "https://www.fedex.com/fedextrack/?trknbr=#",
  usps: "https://tools.usps.com/go/TrackConfirmAction?tLabels=#",
  royal_mail: "https://www.royalmail.com/track-your-item#/tracking-results/#",
  la_poste: "https://www.laposte.fr/outils/suivre-vos-envois?code=#",
  postnl: "https://jouw.postnl.nl/track-and-trace/#",
};

/** Checks the tracking of a parcel, and adds the address of the carrier's page. Errors: validationFailed. */
export function trackingOf({ carrier, number, url }: Tracking): Tracking {
  if (url != null && !(URL.canParse(url) && /^https?:/i.test(url) && url.length <= 2000)) {
    throw invalidField("tracking.url", "must be an http or https address");
  }
  const name = carrier == null ? null : requireText("tracking.carrier", carrier, 50);
  const code = number == null ? null : requireText("tracking.number", number, 100);
  const page = pages[name?.toLowerCase().replaceAll(" ", "_") ?? ""];
  const own = page !== undefined && code !== null ? page.replace(/#$/, encodeURIComponent(code)) : null;
  return { carrier: name, number: code, url: url ?? own };
}
