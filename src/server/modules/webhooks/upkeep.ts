import type { Database } from "../../db/session.ts";
import { createWebhookSender, type WebhookSenderDeps } from "./sender.ts";

/** Beside a file a look costs microseconds; elsewhere it is a round trip. With jitter up to twice as long. */
const everyMs = { file: 250, elsewhere: 2000 };
/** After the database could not answer. */
const restMs = 5000;
/** What is being sent when the server stops may take as long. */
const graceMs = 5000;

/** Tells webhooks of events for as long as a server runs. Any number of servers may do so beside one another. */
export function startWebhookUpkeep(deps: WebhookSenderDeps & { db: Database }): { stop(): Promise<void> } {
  const { db, notice = () => {} } = deps;
  const sender = createWebhookSender(deps);
  const pauseMs = db.kind === "file" || db.kind === "memory" ? everyMs.file : everyMs.elsewhere;
  let isStopping = false;
  let isFailing = false;
  let timer: ReturnType<typeof setTimeout>;

  /** Looks without waiting for what is being sent: a slow receiver must not hold up the next one. */
  function look(): void {
    sender.look().then(
      () => {
        isFailing = false;
      },
      () => {
        if (!isFailing) notice("warn", "webhooks cannot be read or written; their events wait");
        isFailing = true;
      },
    );
    if (!isStopping) timer = setTimeout(look, isFailing ? restMs : pauseMs * (1 + Math.random()));
  }

  look();
  return {
    stop() {
      isStopping = true;
      clearTimeout(timer);
      return sender.stop(graceMs);
    },
  };
}
