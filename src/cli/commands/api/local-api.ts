import type { openLocalApi } from "../../../server/runtime/local-api.ts";
import { readCliConfig, type StoreArgs, withTenant } from "../../context/context.ts";
import type { Console } from "../../terminal/console.ts";
import { buildInfo } from "../version.ts";

export type CallApi = ReturnType<typeof openLocalApi>["call"];

/**
 * Runs `work` with the API of a store in this process, without a server or a key. A request has the permissions of the
 * user in its field `as`. Without `as`, it has the permissions of staff and of app keys.
 */
export function withLocalApi<T>(args: StoreArgs, console: Console, work: (call: CallApi) => Promise<T>): Promise<T> {
  return withTenant(args, console, async (ctx) => {
    const { openLocalApi } = await import("../../../server/runtime/local-api.ts");
    const api = openLocalApi(ctx, readCliConfig(args, console), buildInfo.version);
    try {
      return await work(api.call);
    } finally {
      await api.close();
    }
  });
}
