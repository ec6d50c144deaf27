// The least that a compiled Bun program can do; what a command costs is read beside it.
console.log("hello");
