import { beforeEach, expect } from "bun:test";

// A test without assertions fails. For concurrent tests, Bun cannot count the assertions, and says so.
beforeEach(() => {
  try {
    expect.hasAssertions();
  } catch {}
});
