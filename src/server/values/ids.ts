import { typeidUnboxed } from "typeid-js";

/** Creates a TypeID (`prod_01h455vb4pex5vsknk084sn02q`): a UUIDv7 inside, so that ids sort by age. */
export function newId(prefix: string): string {
  return typeidUnboxed(prefix);
}

const suffix = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

export function isId(prefix: string, text: string): boolean {
  return text.length === prefix.length + 27 && text.startsWith(`${prefix}_`) && suffix.test(text.slice(-26));
}
