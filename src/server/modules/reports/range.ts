import type { Ctx } from "../../context.ts";
import { invalidField } from "../../errors.ts";
import { attempt } from "../../values/attempt.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { parseDuration, readTime } from "../../values/units.ts";
import type { ReportQuery } from "./model.ts";

const maxDays = 1830;
const dayMs = 86_400_000;

/** Returns the bounds of a report as stored times. Errors: validationFailed, also for more than five years. */
export function parseRange(ctx: Ctx, { since = "30d", until }: Pick<ReportQuery, "since" | "until">) {
  const from = parseTime(ctx, "since", since);
  // The end is not included, so a report until now ends in the next millisecond.
  const to = until === undefined ? ctx.now() + 1 : parseTime(ctx, "until", until);
  if (from >= to) throw invalidField("since", "must be earlier than the end");
  if (to - from > maxDays * dayMs) throw invalidField("since", "must be at most five years before the end");
  return { since: toTimestamp(from), until: toTimestamp(to) };
}

/** Returns a time in epoch milliseconds. A year, month or day begins at midnight in the store's time zone. */
function parseTime({ tenant, now }: Ctx, field: string, text: string): number {
  const duration = parseDuration(text);
  if (duration !== undefined) return now() - duration;
  const [, year, month = "01", day = "01"] = /^(\d{4})(?:-(\d\d))?(?:-(\d\d))?$/.exec(text) ?? [];
  const time = year
    ? attempt(
        () => Temporal.PlainDate.from(`${year}-${month}-${day}`).toZonedDateTime(tenant.timezone).epochMilliseconds,
      )
    : readTime(text);
  if (time !== undefined && time >= 0) return time;
  throw invalidField(field, "must be a year, month or day such as 2026-01, a duration such as 30d, or a time");
}

/** Returns the period of a time: the month as `2026-01`, or the day, or first day of the week, as `2026-01-31`. */
export function periodOf(at: string, timezone: string, by: ReportQuery["by"]): string {
  const day = Temporal.Instant.from(at).toZonedDateTimeISO(timezone).toPlainDate();
  if (by === "month") return day.toPlainYearMonth().toString();
  return (by === "week" ? day.subtract({ days: day.dayOfWeek - 1 }) : day).toString();
}
