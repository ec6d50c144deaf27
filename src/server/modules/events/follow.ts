import type { Ctx } from "../../context.ts";
import type { StreamPart } from "../../pagination/list-page.ts";
import type { Event, EventListQuery } from "./model.ts";
import { feedStart, listEvents, newestEventId } from "./service.ts";

/** How often the feed is read for events that this or another process has written. */
const pollMs = 500;

/**
 * Yields the events of a store as they are written, at most a hundred at once, and an empty part if there are none. The
 * stream begins after `after` or at `since`, by default with new events. Errors: as `listEvents`.
 */
export async function* followEvents(ctx: Ctx, query: EventListQuery): AsyncGenerator<StreamPart<Event>> {
  let after = query.after ?? (query.since === undefined ? await newestEventId(ctx) : undefined);
  for (;;) {
    const { json, page } = await listEvents(ctx, { ...query, limit: 100, ...(after !== undefined && { after }) });
    after = page.next_cursor ?? after ?? feedStart;
    yield { records: JSON.parse(json), after, isLast: !page.has_more };
    if (!page.has_more) await Bun.sleep(pollMs);
  }
}
