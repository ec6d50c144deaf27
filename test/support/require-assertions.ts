import { beforeEach, expect } from "bun:test";

// A test without assertions fails. Bun cannot count the assertions of concurrent tests, and throws an error that says
// so.
beforeEach(() => {
  try {
    expect.hasAssertions();
  } catch {}
});
