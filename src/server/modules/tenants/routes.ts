import { anyKey, defineRoute, token } from "../../http/route.ts";
import { StoreProfile } from "./model.ts";
import { readStoreProfile } from "./service.ts";

export const storeRoutes = [
  defineRoute("GET", "/store/", "getStore", {
    tag: "Store",
    summary: "Get the store",
    access: [anyKey, token],
    reply: { data: StoreProfile },
    readEtagSource: ({ ctx }) => readStoreProfile(ctx),
    mayKeep: () => true,
    handle: ({ ctx }) => readStoreProfile(ctx),
  }),
];
