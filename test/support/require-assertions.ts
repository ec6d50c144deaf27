import { beforeEach, expect } from "bun:test";

// A test without assertions fails. For concurrent tests, Bun cannot count them and reports that.
beforeEach(() => {
  try {
    expect.hasAssertions();
  } catch {}
});
