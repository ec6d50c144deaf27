/**
 * A table that stands in a libSQL server's database for as long as it is being filled from a file. Nobody may take such a
 * database for a whole one.
 */
export const loadMark = "__bodega_load";

/** What to say of a database that has the mark, and what to do. */
export const loadMarkMessage = "A restore into this database is at work, or was cut short.";
export const loadMarkRemedy = "Let it end; if nobody is at it, run bodega db restore again: it begins anew.";
