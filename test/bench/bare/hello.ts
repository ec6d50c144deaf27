// The smallest compiled Bun program; the time of a command is compared with it.
console.log("hello");
