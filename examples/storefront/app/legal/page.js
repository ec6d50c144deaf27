import { take } from "../dom.js";
import { coded } from "../errors.js";
import { hasWords, t } from "../words.js";

/** A place for the texts of law. A store may have them anywhere: it tells their addresses. */
export function show({ id }) {
  if (!hasWords(`legal.${id}Text`)) throw coded(5301);
  return take("legal", { title: t(`legal.${id}`), text: t(`legal.${id}Text`), withdraw: id === "withdrawal" && {} });
}
