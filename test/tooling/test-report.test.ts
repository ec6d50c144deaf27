import { expect, test } from "bun:test";
import { countTests, listFailures, renderReport } from "../../scripts/test-report.ts";

const report = (attributes: string) =>
  `<?xml version="1.0"?>\n<testsuites name="bun test" ${attributes}>\n</testsuites>`;

test("tests are counted from the report, and skipped tests are counted separately", () => {
  const counts = countTests(report(`tests="6" assertions="2" failures="1" skipped="2" time="0.1"`), 1);
  expect(counts).toEqual({ passed: 3, failed: 1, skipped: 2 });
});

test("a failing run without a failed test counts as a failure", () => {
  const counts = countTests(report(`tests="6" assertions="2" failures="0" skipped="0" time="0.1"`), 1);
  expect(counts).toEqual({ passed: 6, failed: 1, skipped: 0 });
});

test("a run without a report counts as a failure, with any exit code", () => {
  for (const exitCode of [0, 1, null]) expect(countTests(null, exitCode)).toEqual({ passed: 0, failed: 1, skipped: 0 });
});

test("the last line has the totals, and mentions skipped tests only if there are any", () => {
  const step = { title: "types", passed: 1, failed: 0, skipped: 0, ms: 1200 };
  const tests = { title: "tests", passed: 40, failed: 2, skipped: 3, ms: 61_000 };
  expect(renderReport([step, step]).split("\n").at(-1)).toBe("2 passed, 0 failed");
  expect(renderReport([step, tests]).split("\n").at(-1)).toBe("41 passed, 2 failed, 3 skipped");
});

test("failed tests are listed below the table, with their lines and reasons", () => {
  const failures = listFailures(`<testsuites name="bun test" tests="2" failures="1" skipped="0">
    <testcase name="works" classname="" file="a.test.ts" line="2" assertions="0" />
    <testcase name="says &lt;b&gt;" classname="" file="a.test.ts" line="4" assertions="1">
      <failure type="Error" message="not &quot;c&quot;&#10;but d">Error</failure>
    </testcase></testsuites>`);
  expect(failures).toEqual(['a.test.ts:4 says <b>: not "c"']);
  const shown = renderReport([{ title: "tests", passed: 1, failed: 1, skipped: 0, ms: 10, failures }]);
  expect(shown.split("\n").slice(-3)).toEqual(['(failed) a.test.ts:4 says <b>: not "c"', "", "1 passed, 1 failed"]);
});
