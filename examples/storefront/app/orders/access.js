import { address } from "../address.js";

/** The token that opens a guest's order is kept for this tab only. */
const name = (id) => `shop order ${id}`;

export const readToken = (id) => sessionStorage.getItem(name(id)) ?? undefined;

export const keepToken = (id, token) => sessionStorage.setItem(name(id), token);

export const dropToken = (id) => sessionStorage.removeItem(name(id));

/** The API tells the store only of a withdrawal, and its buyer by mail. */
const withdrawn = (id) => `shop withdrawn ${id}`;

export const isWithdrawn = (id) => sessionStorage.getItem(withdrawn(id)) !== null;

export const keepWithdrawn = (id) => sessionStorage.setItem(withdrawn(id), "");

/** Mails lead to `#ord_….token`. The token leaves the address at once, so that history and screens do not keep it. */
export function takeToken() {
  const [, id, token] = /^#(ord_\w+)\.(\w+)$/.exec(location.hash) ?? [];
  if (!token) return;
  keepToken(id, token);
  history.replaceState(null, "", address("order", id));
}

export const linkTo = (id) => `${location.origin}${location.pathname}#${id}.${readToken(id)}`;
