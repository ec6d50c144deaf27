import { focusOn, take, toast } from "./dom.js";
import { explain } from "./errors.js";

/** A button that adds the next page of a list below, and moves the focus to the first of what is new. */
export function moreButton(list, cursor, add) {
  const button = take("more");
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const { data, page } = await list.page(cursor);
      const [first] = add(data);
      if (page.has_more) button.replaceWith(moreButton(list, page.next_cursor, add));
      else button.remove();
      focusOn(first?.querySelector("a"));
    } catch (error) {
      button.disabled = false;
      toast(explain(error));
    }
  });
  return button;
}
