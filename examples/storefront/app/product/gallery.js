import { picture } from "../catalogue/picture.js";
import { h, slot, take } from "../dom.js";
import { t } from "../words.js";

const sizes = "(min-width: 64rem) 36rem, (min-width: 48rem) 50vw, 100vw";

export function gallery(images) {
  if (images.length < 2) return picture(images[0], sizes, images[0]?.alt);
  const content = take("gallery", { row: images.map((image) => picture(image, sizes, image.alt)) });
  const row = slot(content, "row");
  const buttons = images.map((image, index) => {
    const onclick = () => row.scrollTo({ left: index * row.clientWidth });
    const label = t("product.picture", { count: index + 1 });
    return h("button", { type: "button", "aria-label": label, onclick }, picture(image, "5rem"));
  });
  const mark = () => {
    const shown = Math.round(row.scrollLeft / row.clientWidth) || 0;
    for (const [index, button] of buttons.entries()) button.ariaCurrent = String(index === shown);
  };
  row.tabIndex = 0;
  row.addEventListener("scroll", mark);
  mark();
  content.append(h("div", { class: "thumbs" }, buttons));
  return content;
}
