import { h, toast } from "../dom.js";
import { act, actionButton, coded, explainAll } from "../errors.js";
import { field } from "../form.js";
import { shop } from "../store.js";
import { t } from "../words.js";
import { picture } from "./row.js";

const types = "image/jpeg,image/png,image/webp,image/gif";
const maxBytes = 20 * 1024 * 1024;

/** Draws the pictures of a product. They are uploaded immediately, and saved with the product. */
export function drawPictures(images) {
  let chosen = images.map(({ media_id, url, alt }) => ({ media_id, url, alt }));
  const list = h("ul.pictures");
  const draw = (next) => {
    chosen = next;
    list.replaceChildren(...chosen.map(drawOne));
    list.dispatchEvent(new Event("change", { bubbles: true }));
  };
  const drawOne = (image, index) => {
    const alt = field(t("picture.alt"), { value: image.alt, maxlength: 500 });
    alt.addEventListener("input", ({ target }) => {
      image.alt = target.value.trim();
    });
    const others = () => chosen.filter((one) => one !== image);
    const remove = () => {
      draw(others());
      pick.focus();
    };
    const first = index > 0 && actionButton("picture.first", () => draw([image, ...others()]));
    return h("li", picture(image), h("div", alt, h("p.buttons", first, actionButton("picture.remove", remove))));
  };
  const add = async (files) => {
    for (const file of files) {
      try {
        if (file.size > maxBytes) throw coded("pictureSize");
        const { id: media_id, url } = await shop.media.upload(file);
        draw([...chosen, { media_id, url, alt: "" }]);
      } catch (error) {
        toast(`${file.name}: ${explainAll(error)}`);
      }
    }
  };
  const input = (word, attributes) => {
    const control = h("input.visually-hidden", { type: "file", ...attributes });
    const label = h("label.button.is-quiet", t(word), control);
    control.addEventListener("change", () => {
      const files = [...control.files];
      control.value = "";
      void act(label, () => add(files));
    });
    return { control, label };
  };
  const { control: pick, label } = input("picture.choose", { accept: types, multiple: true });
  const camera = input("picture.take", { accept: "image/*", capture: "environment" }).label;
  const zone = h("div.drop", h("p", t("picture.drop")), h("p.buttons", label, camera));
  for (const name of ["dragover", "dragleave", "drop"]) {
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.toggle("is-over", name === "dragover");
      if (name === "drop") void act(zone, () => add([...event.dataTransfer.files]));
    });
  }
  draw(chosen);
  return { parts: [list, zone], read: () => chosen.map(asWritten) };
}

/** Returns a picture as the API accepts it: an uploaded picture by its id, another by its address. */
export const asWritten = ({ media_id, url, alt }) => ({ ...(media_id ? { media_id } : { url }), ...(alt && { alt }) });
