/** A table that exists in a libSQL server's database while a restore fills it. Such a database must not be used. */
export const restoreMarker = "__bodega_load";

export const restoreMarkerMessage = "A restore into this database is running, or was interrupted.";
export const restoreMarkerRemedy =
  "Wait for it to end. If none is running, start the restore again: bodega db restore <backup>";
