import { beforeEach, expect } from "bun:test";

// A test that asserts nothing proves nothing: it fails.
beforeEach(() => expect.hasAssertions());
