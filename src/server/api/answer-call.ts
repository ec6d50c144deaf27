import { type Reply, successResponse } from "../http/envelope.ts";
import type { Call } from "../http/route.ts";
import { withPublicUrls } from "../modules/media/model.ts";
import type { Arrived } from "./answer-read.ts";
import { answerFirstMatch, parseIfMatch } from "./check-input.ts";
import { answerIdempotently, successStatus } from "./idempotency.ts";

export async function answerCall(
  { publicUrl }: { publicUrl?: string | undefined },
  arrived: Arrived,
  call: Call,
  headers: Record<string, string>,
): Promise<Response> {
  const answer = await handle(arrived, call);
  const shown = { ...answer, json: withPublicUrls(answer.json, publicUrl) };
  return successResponse(arrived.requestId, shown, successStatus(arrived.route, answer), headers);
}

function handle({ route, request }: Arrived, call: Call): Promise<Reply> {
  if (route.method === "GET") return route.handle(call as never, undefined as never);
  const key = request.headers.get("idempotency-key");
  const versions = route.conditional ? parseIfMatch(request.headers.get("if-match")) : null;
  return answerFirstMatch(versions, (ifMatch) => answerIdempotently(route, { ...call, ifMatch }, key));
}
