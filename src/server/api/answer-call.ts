import { type Reply, successResponse } from "../http/envelope.ts";
import type { Call } from "../http/route.ts";
import { withPublicUrls } from "../modules/media/model.ts";
import type { RouteRequest } from "./answer-read.ts";
import { answerFirstMatch, parseIfMatch } from "./check-input.ts";
import { answerIdempotently, successStatus } from "./idempotency.ts";

export async function answerCall(
  { publicUrl }: { publicUrl?: string | undefined },
  incoming: RouteRequest,
  call: Call,
  headers: Record<string, string>,
): Promise<Response> {
  const answer = await handle(incoming, call);
  const shown = { ...answer, json: withPublicUrls(answer.json, publicUrl) };
  return successResponse(incoming.requestId, shown, successStatus(incoming.route, answer), headers);
}

function handle({ route, request }: RouteRequest, call: Call): Promise<Reply> {
  if (route.method === "GET") return route.handle(call as never, undefined as never);
  const key = request.headers.get("idempotency-key");
  const versions = route.conditional ? parseIfMatch(request.headers.get("if-match")) : null;
  return answerFirstMatch(versions, (ifMatch) => answerIdempotently(route, { ...call, ifMatch }, key));
}
