import { address } from "../address.js";

/** The key of the token of a guest's order, in the storage of the tab or of the browser. */
const name = (id) => `shop order ${id}`;

export const readToken = (id) => sessionStorage.getItem(name(id)) ?? undefined;

export const keepToken = (id, token) => sessionStorage.setItem(name(id), token);

export const dropToken = (id) => sessionStorage.removeItem(name(id));

/** Keeps the token for other tabs, too: the payment page may lead back to another one. */
export const shareToken = (id) => readToken(id) && localStorage.setItem(name(id), readToken(id));

/** Moves a shared token to this tab. */
export function collectToken(id) {
  const token = localStorage.getItem(name(id));
  if (token) keepToken(id, token);
  localStorage.removeItem(name(id));
}

/** The API does not show withdrawals to customers, so a tab notes its own: of the "whole" order, or "part" of it. */
const withdrawn = (id) => `shop withdrawn ${id}`;

export const readWithdrawn = (id) => sessionStorage.getItem(withdrawn(id));

export const keepWithdrawn = (id, part) => sessionStorage.setItem(withdrawn(id), part);

/** Takes the token out of an address from a mail (`#ord_….token`), so that it does not stay in the history. */
export function takeToken() {
  const [, id, token] = /^#(ord_\w+)\.(\w+)$/.exec(location.hash) ?? [];
  if (!token) return;
  keepToken(id, token);
  history.replaceState(null, "", address("order", id));
}

export const linkTo = (id) => `${location.origin}${location.pathname}#${id}.${readToken(id)}`;
