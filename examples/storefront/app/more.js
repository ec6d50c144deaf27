import { focusOn, take } from "./dom.js";
import { act } from "./errors.js";

/** A button that adds the next page of a list below, and moves the focus to the first of what is new. */
export function moreButton(list, cursor, add) {
  const addPage = async () => {
    const { data, page } = await list.page(cursor);
    const [first] = add(data);
    button.replaceWith(page.has_more ? moreButton(list, page.next_cursor, add) : "");
    focusOn(first?.querySelector("a"));
  };
  const button = take("more");
  button.addEventListener("click", () => act(button, addPage));
  return button;
}
