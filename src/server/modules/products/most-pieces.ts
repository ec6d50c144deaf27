/** How many pieces of one thing there can be; the sum of all variants of a product stays exact in JSON with it. */
export const maxPieces = 1_000_000_000_000;
