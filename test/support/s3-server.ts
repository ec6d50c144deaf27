import { createHash, createHmac } from "node:crypto";

/** An S3 store for tests, which accepts only correctly signed calls. */
export interface S3ServerUnderTest {
  url: string;
  account: { accessKeyId: string; secretAccessKey: string };
  /** The environment with which commands use this store. */
  env: Record<string, string>;
  bucket: string;
  /** The complete objects by key. */
  objects: Map<string, Uint8Array>;
  /** The multipart uploads that were neither completed nor aborted. */
  uploads: Map<string, { key: string; parts: Map<number, Uint8Array> }>;
  /** The received calls, such as `PUT key`. */
  calls: string[];
  /** If set, matching calls fail with this S3 code. */
  fail: { when: RegExp; code: string } | undefined;
  /** If set, each reply waits for this function. */
  hold: ((call: string) => Promise<void>) | undefined;
  close(): Promise<void>;
}

const region = "eu-central-1";

/**
 * Starts a small S3 store in memory: objects, parts, lists, ranges. Like a real service, it verifies each signature
 * (version 4).
 */
export function startS3Server(bucket = "backups"): S3ServerUnderTest {
  const account = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: `secret-${crypto.randomUUID()}` };
  const objects: S3ServerUnderTest["objects"] = new Map();
  const uploads: S3ServerUnderTest["uploads"] = new Map();
  const calls: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const body = new Uint8Array(await request.arrayBuffer());
      const url = new URL(request.url);
      const [, found = "", ...rest] = decodeURIComponent(url.pathname).split("/");
      const key = rest.join("/");
      const call = `${request.method} ${key}${url.search}`;
      calls.push(call);
      await self.hold?.(call);
      if (!isSigned(request, url, body, account)) return refuse("SignatureDoesNotMatch", 403);
      if (self.fail?.when.test(call)) return refuse(self.fail.code, self.fail.code === "InternalError" ? 500 : 403);
      if (found !== bucket) return refuse("NoSuchBucket", 404);
      return answer(request, url, key, body);
    },
  });
  const self: S3ServerUnderTest = {
    url: `http://127.0.0.1:${server.port}`,
    account,
    env: {
      BODEGA_S3_ENDPOINT: `http://127.0.0.1:${server.port}`,
      BODEGA_S3_REGION: region,
      BODEGA_S3_ACCESS_KEY_ID: account.accessKeyId,
      BODEGA_S3_SECRET_ACCESS_KEY: account.secretAccessKey,
    },
    bucket,
    objects,
    uploads,
    calls,
    fail: undefined,
    hold: undefined,
    close: () => server.stop(true),
  };

  function answer(request: Request, url: URL, key: string, body: Uint8Array): Response {
    const { searchParams: query } = url;
    const uploadId = query.get("uploadId");
    switch (request.method) {
      case "GET":
        return key === "" ? list(query) : read(request, key);
      case "HEAD":
        return read(request, key);
      case "DELETE":
        if (uploadId !== null) uploads.delete(uploadId);
        else objects.delete(key);
        return new Response(null, { status: 204 });
      case "POST":
        return uploadId === null ? begin(key) : complete(uploadId);
      default:
        if (request.headers.get("if-none-match") === "*" && objects.has(key)) return refuse("PreconditionFailed", 412);
        if (uploadId === null) objects.set(key, body);
        else uploads.get(uploadId)?.parts.set(Number(query.get("partNumber")), body);
        return new Response(null, { headers: { etag: `"${createHash("md5").update(body).digest("hex")}"` } });
    }
  }

  function begin(key: string): Response {
    const id = crypto.randomUUID();
    uploads.set(id, { key, parts: new Map() });
    return xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
  }

  function complete(id: string): Response {
    const upload = uploads.get(id);
    if (!upload) return refuse("NoSuchUpload", 404);
    const numbers = [...upload.parts.keys()].sort((a, b) => a - b);
    objects.set(upload.key, Buffer.concat(numbers.map((number) => upload.parts.get(number) as Uint8Array)));
    uploads.delete(id);
    return xml(`<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>`);
  }

  function list(query: URLSearchParams): Response {
    const prefix = query.get("prefix") ?? "";
    const after = query.get("start-after") ?? "";
    const most = Number(query.get("max-keys") ?? 1000);
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    const contents = keys.slice(0, most).map((key) => {
      const size = objects.get(key)?.length;
      return `<Contents><Key>${key}</Key><Size>${size}</Size><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>`;
    });
    return xml(
      `<ListBucketResult><Name>${bucket}</Name><Prefix>${prefix}</Prefix><KeyCount>${contents.length}</KeyCount>` +
        `<MaxKeys>${most}</MaxKeys><IsTruncated>${keys.length > most}</IsTruncated>${contents.join("")}</ListBucketResult>`,
    );
  }

  function read(request: Request, key: string): Response {
    const object = objects.get(key);
    if (!object) return request.method === "HEAD" ? new Response(null, { status: 404 }) : refuse("NoSuchKey", 404);
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.get("range") ?? "");
    if (!range) return new Response(object as Uint8Array<ArrayBuffer>, { headers: { etag: '"x"' } });
    const end = range[2] === "" ? object.length : Math.min(Number(range[2]) + 1, object.length);
    return new Response(object.slice(Number(range[1]), end), {
      status: 206,
      headers: { "content-range": `bytes ${range[1]}-${end - 1}/${object.length}` },
    });
  }

  return self;
}

/** Reads the parts of a signature from the header, or for a signed URL from the query. */
function readSignature(request: Request, { searchParams: query }: URL): string[] {
  const header = request.headers.get("authorization");
  const given =
    header === null
      ? `AWS4-HMAC-SHA256 Credential=${query.get("X-Amz-Credential")}, SignedHeaders=${query.get("X-Amz-SignedHeaders")}, Signature=${query.get("X-Amz-Signature")}`
      : header;
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
  return form.exec(given)?.slice(1) ?? [];
}

/** Whether the signature of a call matches the secret of the account. */
function isSigned(request: Request, url: URL, body: Uint8Array, account: S3ServerUnderTest["account"]): boolean {
  const [id, day, where, headerNames = "", signature] = readSignature(request, url);
  if (id !== account.accessKeyId || where !== region) return false;
  const isInQuery = url.searchParams.has("X-Amz-Signature");
  const claimed = isInQuery ? "UNSIGNED-PAYLOAD" : (request.headers.get("x-amz-content-sha256") ?? "");
  if (claimed !== "UNSIGNED-PAYLOAD" && claimed !== sha256(body)) return false;
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  const path = decodeURIComponent(url.pathname).split("/").map(encode).join("/");
  const query = [...url.searchParams]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort();
  const headers = headerNames.split(";").map((name) => `${name}:${request.headers.get(name)?.trim()}\n`);
  const canonical = [request.method, path, query.join("&"), headers.join(""), headerNames, claimed].join("\n");
  const time = url.searchParams.get("X-Amz-Date") ?? request.headers.get("x-amz-date") ?? "";
  const text = ["AWS4-HMAC-SHA256", time, `${day}/${region}/s3/aws4_request`, sha256(canonical)].join("\n");
  const mac = (key: string | Buffer, part: string) => createHmac("sha256", key).update(part).digest();
  const key = [day as string, region, "s3", "aws4_request"].reduce<string | Buffer>(
    mac,
    `AWS4${account.secretAccessKey}`,
  );
  return mac(key, text).toString("hex") === signature;
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

function refuse(code: string, status: number): Response {
  // Real services may name the account in the message.
  return xml(`<Error><Code>${code}</Code><Message>Refused for AKIDEXAMPLE</Message></Error>`, status);
}

function xml(text: string, status = 200): Response {
  return new Response(`<?xml version="1.0" encoding="UTF-8"?>${text}`, {
    status,
    headers: { "content-type": "application/xml" },
  });
}
