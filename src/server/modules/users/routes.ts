import { Type } from "@sinclair/typebox";
import { app, defineRoute, replyDeleted, replyRecord, staff } from "../../http/route.ts";
import { deleted, IdParams } from "../../values/schema.ts";
import { listUsers } from "./list.ts";
import { User, UserInput, UserListQuery, UserPatch } from "./model.ts";
import { addUser, deleteUser, getUser, prepareUser, updateUser } from "./service.ts";

const readers = { tag: "Users", access: [app("users:read"), staff] } as const;
const writers = { tag: "Users", access: [app("users:write"), staff] } as const;

export const userRoutes = [
  defineRoute("GET", "/users/", "listUsers", {
    ...readers,
    summary: "List users",
    query: UserListQuery,
    reply: { data: Type.Array(User), page: true },
    handle: ({ ctx, query }) => listUsers(ctx, query),
  }),
  defineRoute("GET", "/users/:id/", "getUser", {
    ...readers,
    summary: "Get a user",
    params: IdParams,
    reply: { data: User },
    handle: async ({ ctx, params }) => replyRecord(await getUser(ctx, params.id)),
  }),
  defineRoute("POST", "/users/", "createUser", {
    ...writers,
    summary: "Create or import a user",
    body: UserInput,
    reply: { status: 201, data: User },
    errors: ["weakPassword", "conflict"],
    prepare: ({ ctx, body, lang }) => prepareUser(ctx, { ...body, lang }),
    handle: async ({ ctx }, user) => replyRecord(await addUser(ctx, user)),
  }),
  defineRoute("PATCH", "/users/:id/", "patchUser", {
    ...writers,
    summary: "Update a user",
    params: IdParams,
    body: UserPatch,
    reply: { data: User },
    errors: ["conflict", "wrongState"],
    conditional: true,
    handle: async ({ ctx, params, body, lang, ifMatch }) =>
      replyRecord(await updateUser(ctx, params.id, { ...body, lang }, ifMatch)),
  }),
  defineRoute("DELETE", "/users/:id/", "deleteUser", {
    ...writers,
    summary: "Delete a user",
    params: IdParams,
    reply: { data: deleted("DeletedUser") },
    errors: ["wrongState"],
    conditional: true,
    handle: ({ ctx, params, ifMatch }) => replyDeleted(params.id, deleteUser(ctx, params.id, ifMatch)),
  }),
];
