import { h } from "../dom.js";
import { shop } from "../shop.js";

/** The pictures of products are square in this shop's pages; other shapes are cut to a square by the style sheet. */
const side = 640;

/**
 * A picture in the widths that the store makes of it.
 * `sizes` says how wide it will be; `isFirst` loads it at once, because it is what the page is about.
 */
export function picture(image, { sizes, isFirst = false, alt = image?.alt }) {
  if (!image) return h("span", { class: "picture is-missing" });
  const widths = image.media_id ? [320, 640, 1280] : [];
  return h("img", {
    class: "picture",
    // As a request with CORS, so that the service worker can keep it for times without a connection.
    crossorigin: image.media_id && "anonymous",
    srcset: widths.map((width) => `${shop.imageUrl(image, width)} ${width}w`).join(", ") || null,
    sizes: widths.length > 0 && sizes,
    src: shop.imageUrl(image, 640),
    width: side,
    height: side,
    alt: alt ?? "",
    loading: isFirst ? "eager" : "lazy",
    fetchpriority: isFirst && "high",
    decoding: "async",
  });
}
