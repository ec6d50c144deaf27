import {
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  verify,
  X509Certificate,
} from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  calculateJwkThumbprint,
  decodeProtectedHeader,
  type FlattenedJWS,
  flattenedVerify,
  importJWK,
  type JWK,
} from "jose";
import { renewalIdOf } from "../../src/server/tls/acme/signing-request.ts";
import { makeCertificate } from "./make-certificate.ts";
import type { Pebble } from "./pebble.ts";
import { findPort } from "./port.ts";

interface Authorization {
  status: string;
  identifier: { type: string; value: string };
  challenges: { type: string; url: string; token: string; status: string; error?: object }[];
}
interface Order {
  status: string;
  authorizations: string[];
  finalize: string;
  certificate?: string;
}

const refusal = (type: string, detail: string, status = 400) =>
  Response.json({ type: `urn:ietf:params:acme:error:${type}`, detail }, { status });

/**
 * A certificate authority (RFC 8555) for machines without Pebble. It checks signatures, connects to the names, and
 * issues certificates.
 */
export function startAcmeServer(validitySeconds: number): Pebble {
  const [dir, httpPort] = [mkdtempSync(join(tmpdir(), "bodega-acme-")), findPort()];
  const pair = makeCertificate();
  writeFileSync(join(dir, "cert.pem"), pair.cert);
  const issuer = { name: "Pebble's stand-in", key: generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey };
  const [nonces, accounts, addresses] = [new Set<string>(), new Map<string, JWK>(), new Map<string, string[]>()];
  const [orders, authorizations] = [new Map<string, Order>(), new Map<string, Authorization>()];
  const [certificates, windows] = [new Map<string, string>(), new Map<string, object>()];
  let calls = 0;

  const server = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0, tls: pair },
    async fetch(request) {
      const reply = await answer(request);
      const nonce = randomBytes(16).toString("base64url");
      nonces.add(nonce);
      reply.headers.set("replay-nonce", nonce);
      return reply;
    },
  });
  const base = `https://127.0.0.1:${server.port}`;

  async function answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/dir") {
      const [newNonce, newAccount, newOrder, renewalInfo] = ["nonce", "account", "order", "info"].map(
        (one) => `${base}/${one}`,
      );
      return Response.json({ newNonce, newAccount, newOrder, renewalInfo });
    }
    if (pathname.startsWith("/info/")) {
      const suggestedWindow = windows.get(pathname.slice(6));
      return suggestedWindow ? Response.json({ suggestedWindow }) : new Response(null, { status: 404 });
    }
    if (request.method === "HEAD") return new Response(null);
    const jws = (await request.json()) as FlattenedJWS;
    const { alg, url, nonce, kid, jwk } = decodeProtectedHeader(jws) as Record<string, string> & { jwk?: JWK };
    // Like Pebble, it sometimes refuses good nonces.
    if (!nonces.delete(nonce ?? "") || ++calls % 5 === 0) return refusal("badNonce", "The nonce is unknown.");
    const key = jwk ?? accounts.get(kid ?? "");
    if (key === undefined) return refusal("accountDoesNotExist", "The account is unknown.");
    const { payload } = await flattenedVerify(jws, await importJWK(key, "ES256"));
    if (alg !== "ES256" || url !== request.url) return refusal("malformed", "The header does not fit.");
    const thumbprint = await calculateJwkThumbprint(key);
    if (pathname === "/account") {
      accounts.set(`${base}/account/${thumbprint}`, key);
      return Response.json(
        { status: "valid" },
        { status: 201, headers: { location: `${base}/account/${thumbprint}` } },
      );
    }
    return act(request.url, payload.length > 0 ? JSON.parse(Buffer.from(payload).toString()) : undefined, thumbprint);
  }

  // biome-ignore lint/suspicious/noExplicitAny: the payloads of the protocol differ by address.
  async function act(url: string, payload: any, thumbprint: string): Promise<Response> {
    if (url === `${base}/order`) return begin(payload.identifiers);
    const id = url.slice(url.lastIndexOf("/") + 1);
    const [order, authorization] = [orders.get(id), authorizations.get(id)];
    if (authorization) {
      if (payload) await prove(authorization, thumbprint);
      return Response.json(authorization);
    }
    if (url.includes("/cert/")) return new Response(certificates.get(id));
    if (!order) return refusal("malformed", "The address is unknown.", 404);
    const proofs = order.authorizations.map((one) => authorizations.get(one.slice(one.lastIndexOf("/") + 1)));
    if (url === order.finalize && proofs.every((one) => one?.status === "valid")) {
      const names = proofs.map((one) => one?.identifier.value ?? "");
      const subject = readRequest(Buffer.from(payload.csr, "base64url"), names);
      if (!subject) return refusal("badCSR", "The request does not fit the order.");
      const from = Date.now();
      const { cert } = makeCertificate({ names, from, until: from + validitySeconds * 1000, subject, issuer });
      certificates.set(id, cert);
      Object.assign(order, { status: "valid", certificate: `${base}/cert/${id}` });
    }
    return Response.json(order);
  }

  function begin(identifiers: Authorization["identifier"][]): Response {
    if (identifiers.some(({ value }) => value === "blocked.test")) {
      return refusal("rejectedIdentifier", "The name is blocked.", 403);
    }
    const urls = identifiers.map((identifier) => {
      const [id, token] = [randomBytes(8).toString("hex"), randomBytes(16).toString("base64url")];
      const challenges = [{ type: "http-01", url: `${base}/challenge/${id}`, token, status: "pending" }];
      authorizations.set(id, { status: "pending", identifier, challenges });
      return `${base}/authorization/${id}`;
    });
    const id = randomBytes(8).toString("hex");
    const order = { status: "pending", authorizations: urls, finalize: `${base}/finalize/${id}` };
    orders.set(id, order);
    return Response.json(order, { status: 201, headers: { location: `${base}/order/${id}` } });
  }

  /** Fetches the HTTP-01 answer from the address of the name. */
  async function prove(authorization: Authorization, thumbprint: string): Promise<void> {
    const { identifier, challenges } = authorization;
    const [address] = addresses.get(identifier.value) ?? [];
    for (const challenge of challenges) {
      const url = `http://${address}:${httpPort}/.well-known/acme-challenge/${challenge.token}`;
      const text = await fetch(url, { headers: { host: identifier.value } }).then(
        (reply) => reply.text(),
        () => null,
      );
      const type = address === undefined ? "dns" : text === null ? "connection" : "unauthorized";
      const isValid = text === `${challenge.token}.${thumbprint}`;
      authorization.status = isValid ? "valid" : "invalid";
      if (!isValid) challenge.error = { type: `urn:ietf:params:acme:error:${type}`, detail: `${type}: ${text}` };
    }
  }

  return {
    ...{ directory: `${base}/dir`, trust: join(dir, "cert.pem"), httpPort },
    async set(what, value) {
      const { host, addresses: list = [] } = value as { host: string; addresses?: string[] };
      addresses.set(host.replace(/\.$/, ""), what === "add-a" ? list : []);
    },
    async suggest(certificate, window) {
      windows.set(renewalIdOf(new X509Certificate(certificate)) ?? "", window);
    },
    stop() {
      void server.stop(true);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Splits the content of a DER value into its parts, including their headers. */
function partsOf(bytes: Buffer): Buffer[] {
  const head = (at: number) => ((bytes[at + 1] as number) < 0x80 ? 2 : 2 + ((bytes[at + 1] as number) & 0x7f));
  const size = (at: number) => (head(at) === 2 ? (bytes[at + 1] as number) : bytes.readUIntBE(at + 2, head(at) - 2));
  const parts: Buffer[] = [];
  for (let at = head(0); at < bytes.length; at += head(at) + size(at)) {
    parts.push(bytes.subarray(at, at + head(at) + size(at)));
  }
  return parts;
}

/** Returns the key of a signing request (PKCS #10), or undefined if signature or names are wrong. */
function readRequest(request: Buffer, names: string[]): KeyObject | undefined {
  const [body = Buffer.of(), , signature = Buffer.of()] = partsOf(request);
  const [, , spki = Buffer.of(), attributes = Buffer.of()] = partsOf(body);
  const key = createPublicKey({ key: spki, format: "der", type: "spki" });
  const hasNames = names.every((name) => attributes.includes(Buffer.from([0x82, name.length, ...Buffer.from(name)])));
  return hasNames && verify("sha256", body, key, signature.subarray(3)) ? key : undefined;
}
