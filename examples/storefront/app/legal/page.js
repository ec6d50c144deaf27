import { take } from "../dom.js";
import { coded } from "../errors.js";
import { hasWords, t } from "../words.js";

/** Shows a legal text of this shop. A store can also have its legal texts at other addresses. */
export function show({ id }) {
  if (!hasWords(`legal.${id}Text`)) throw coded(5301);
  return take("legal", { title: t(`legal.${id}`), text: t(`legal.${id}Text`), withdraw: id === "withdrawal" && {} });
}
