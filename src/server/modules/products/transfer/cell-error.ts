/** Thrown by a cell that cannot be read; the message continues the column's name. */
export class CellError extends Error {}
