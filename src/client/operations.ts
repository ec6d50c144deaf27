import type { components, paths } from "./types.generated.ts";

type Verb = "get" | "post" | "put" | "patch" | "delete";
type Schemas = components["schemas"];

/** The page of a list: `next_cursor` and `has_more`, and if requested `total` and `facets`. */
export type Page = Schemas["Page"];

type OperationsOf<P extends keyof paths> = {
  [V in Verb & keyof paths[P]]: `${Uppercase<V>} ${P}`;
}[Verb & keyof paths[P]];

/** Every operation of the API by method and path, such as `"GET /products/{id}/"`. */
export type Operation = { [P in keyof paths]: OperationsOf<P> }[keyof paths];

/** The description of an operation. */
type Described<O extends Operation> = O extends `${infer V} ${infer P extends keyof paths}`
  ? Lowercase<V> extends infer L extends keyof paths[P]
    ? paths[P][L]
    : never
  : never;

type Json<T> = T extends { content: { "application/json": infer J } } ? J : never;

/** The whole reply of an operation: `request_id`, `data`, and `page` of lists. */
export type Reply<O extends Operation> =
  Described<O> extends { responses: infer R }
    ? { [S in keyof R & (200 | 201)]: Json<R[S]> }[keyof R & (200 | 201)]
    : never;

/** `data` of an operation's reply. */
export type Data<O extends Operation> = Reply<O> extends infer R ? (R extends { data: infer D } ? D : never) : never;

/** A record in the list that an operation returns. */
export type Item<O extends Operation> =
  Reply<O> extends infer R ? (R extends { data: (infer I)[]; page: Page } ? I : never) : never;

type ParametersIn<O extends Operation, In extends string> =
  Described<O> extends { parameters: infer P } ? (In extends keyof P ? P[In] : never) : never;

/** `T`, except that its optional fields may have the value undefined. The client does not send such fields. */
type Sendable<T> = { [K in keyof T]: T[K] | (Record<never, never> extends Pick<T, K> ? undefined : never) };

/** The query of an operation, without `namespace`, which the client adds. */
export type Query<O extends Operation> = Sendable<Omit<ParametersIn<O, "query">, "namespace">>;

/** The JSON body of an operation, or the file of an upload; `undefined` without a body. */
export type Body<O extends Operation> =
  Described<O> extends { requestBody?: { content: infer C } | undefined }
    ? C extends { "application/json": infer J }
      ? Sendable<J>
      : unknown extends C
        ? undefined
        : Blob
    : undefined;

/** How one call is sent. */
export interface SendOptions {
  signal?: AbortSignal | undefined;
  /** Additional headers, such as `X-Client-Address`. */
  headers?: Record<string, string> | undefined;
  /** The key of a `POST`. Default: a new key for each call, which the retries of the call share. */
  idempotencyKey?: string | undefined;
  /** The token of a guest's order, sent with the app key. Do not keep it in addresses or logs. */
  orderToken?: string | undefined;
  /** The version that the record must have; otherwise error 5303. */
  ifVersion?: number | undefined;
  /** Default: `key` for reads of the catalogue, with `orderToken`, and if nobody is signed in; otherwise `user`. */
  as?: "key" | "user" | undefined;
}

/** An object with `T` as the field `Name`. The field is optional if all fields of `T` are. */
type Field<Name extends string, T> = [T] extends [never | undefined]
  ? { [N in Name]?: undefined }
  : Record<never, never> extends T
    ? { [N in Name]?: T }
    : { [N in Name]: T };

/** The parts of a request. */
export type CallOptions<O extends Operation> = SendOptions &
  Field<"path", Extract<ParametersIn<O, "path">, object>> &
  Field<"query", Query<O>> &
  Field<"body", Body<O>>;

type Named = { product_id: [product_id: string]; variant_id: [variant_id: string] };
type Ids<O extends string> = O extends `${string}{${infer Name}}${infer Rest}`
  ? [...(Name extends keyof Named ? Named[Name] : [id: string]), ...Ids<Rest>]
  : [];

/** The main input of an operation: for GET and DELETE its query, otherwise its body. */
type Input<O extends Operation> = O extends `${"GET" | "DELETE"} ${string}` ? Query<O> : Body<O>;

/** The arguments of a method: the ids in the path, then its query or body, then options. */
export type Arguments<O extends Operation> = [
  ...Ids<O>,
  ...(undefined extends Input<O>
    ? [input?: undefined]
    : Record<never, never> extends Input<O>
      ? [input?: Input<O>]
      : [input: Input<O>]),
  options?: SendOptions & { query?: Partial<Query<O>> },
];

/** A record with only its id and the fields that the query `fields` names. */
type Part<T> = Partial<T> & Pick<T, keyof T & "id">;

/** A function whose result is `P` if the query has `fields`, otherwise `W`. */
type Choosing<O extends Operation, W, P> = "fields" extends keyof Query<O>
  ? ((...args: [...Ids<O>, input: Query<O> & { fields: string }, options?: SendOptions]) => P) &
      ((...args: Arguments<O>) => W)
  : (...args: Arguments<O>) => W;

/** A method of the client. Errors: {@link BodegaError}. */
export type Method<O extends Operation> = Choosing<O, Promise<Data<O>>, Promise<Part<Data<O>>>>;

/** The records of a list. `for await` reads them page by page. */
export interface List<I> extends AsyncIterable<I> {
  /** Returns one page: the one after `cursor`, or without `cursor` the first. */
  page(cursor?: string | null): Promise<{ data: I[]; page: Page }>;
}

export type ListMethod<O extends Operation> = Choosing<O, List<Item<O>>, List<Part<Item<O>>>>;

type State<O extends Operation, Id> =
  Reply<O> extends infer R
    ? R extends { page: unknown }
      ? never
      : R extends { data: infer D }
        ? Id extends string
          ? Exclude<D, readonly unknown[]>
          : Extract<D, readonly unknown[]>
        : never
    : never;

/** Reads the counts of one resource, or of up to 100 if `resource_id` is a list. */
export type StateMethod<O extends Operation> = <Id extends string | string[]>(
  input: Omit<Query<O>, "resource_id"> & { resource_id: Id },
  options?: SendOptions,
) => Promise<State<O, Id>>;

/** Sends an operation, and returns the whole reply. Errors: {@link BodegaError}; the signal's reason if aborted. */
export type Call = <O extends Operation>(
  operation: O,
  ...options: Record<never, never> extends CallOptions<O> ? [options?: CallOptions<O>] : [options: CallOptions<O>]
) => Promise<Reply<O>>;
