import { set } from "../dom.js";
import { shop } from "../shop.js";

/**
 * A picture in the widths that the store makes of it, cut to a square. `sizes` says how wide it will be; `isFirst` loads it at once,
 * because it is what the page is about.
 */
export function picture(image, sizes, { isFirst = false, alt = "" } = {}) {
  const square = { class: "picture", width: 640, height: 640, alt };
  if (!image) return set(new Image(), { ...square, src: "icon.svg" });
  const widths = image.media_id ? [320, 640, 1280] : [];
  return set(new Image(), {
    ...square,
    // A request with CORS, so that the service worker can keep the picture.
    crossorigin: image.media_id && "anonymous",
    loading: isFirst ? "eager" : "lazy",
    fetchpriority: isFirst && "high",
    sizes: widths.length > 0 && sizes,
    srcset: widths.map((width) => `${shop.imageUrl(image, width)} ${width}w`).join(", ") || null,
    src: shop.imageUrl(image, 640),
  });
}
