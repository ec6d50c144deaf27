import { typeidUnboxed } from "typeid-js";

/** Prefixes of ids, one for each kind of record. */
export type IdPrefix =
  | "tnt"
  | "app"
  | "sec"
  | "prod"
  | "usr"
  | "tok"
  | "mail"
  | "var"
  | "ord"
  | "line"
  | "ref"
  | "wish"
  | "rwd"
  | "evt"
  | "whk"
  | "dlv"
  | "vis"
  | "reg"
  | "msg"
  | "psh";

/** A new TypeID (`prod_01h455vb4pex5vsknk084sn02q`): a UUIDv7 inside, so that ids sort by age. */
export function newId<P extends IdPrefix>(prefix: P): string {
  return typeidUnboxed(prefix);
}

/** Whether a text has the form of an id of this kind; the record need not exist. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return (
    text.length === prefix.length + 27 &&
    text.startsWith(`${prefix}_`) &&
    /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(text.slice(-26))
  );
}
