import { set, take } from "../dom.js";
import { shop } from "../shop.js";

export function picture(image, sizes, alt = "") {
  if (!image) return take("no-picture");
  const square = { class: "picture", width: 640, height: 640, alt };
  const widths = image.media_id ? [320, 640, 1280] : [];
  const srcset = widths.map((width) => `${shop.imageUrl(image, width)} ${width}w`).join();
  const loading = alt ? "eager" : "lazy";
  return set(new Image(), { ...square, loading, sizes, srcset, src: shop.imageUrl(image, 640) });
}
