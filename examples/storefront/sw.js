// Keeps the shop readable without a connection.
