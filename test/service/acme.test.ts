import { expect, test } from "bun:test";
import type { X509Certificate } from "node:crypto";
import { AcmeProblem } from "../../src/server/tls/acme/client.ts";
import { describeError } from "../../src/server/tls/acme/failure.ts";
import { renewalTime } from "../../src/server/tls/acme/renew.ts";
import { createPlaceholder, renewalIdOf } from "../../src/server/tls/acme/signing-request.ts";
import { parseCertificate } from "../../src/server/tls/certificate.ts";
import { makeCertificate } from "../support/make-certificate.ts";

const dayMs = 86_400_000;
const from = Date.parse("2026-11-01T00:00:00Z");
const files = { cert: "certificate.pem", key: "certificate.pem" };

test("a certificate is renewed at a random time, near two thirds of its lifetime or in the window that the authority suggests", () => {
  const times = Array.from({ length: 8 }, () => {
    const certificate = parseCertificate(makeCertificate({ from, until: from + 90 * dayMs }), files);
    const window = { start: from + 9 * dayMs, end: from + 11 * dayMs };
    return [renewalTime(certificate), renewalTime(certificate, window)].map((at) => (at - from) / dayMs);
  });
  for (const [own = 0, suggested = 0] of times) {
    expect(own).toBeWithin(56, 61);
    expect(suggested).toBeWithin(9, 11);
  }
  expect(new Set(times.map(([own]) => own)).size).toBeGreaterThan(1);
});

test("the renewal identifier of a certificate is as in the standard's example", () => {
  const key = "69885b6b87464041e1b37b847ba0ae2cde01c8d4";
  const raw = Buffer.from(`0000 301f 0603551d23 0418 3016 8014 ${key}`.replaceAll(" ", ""), "hex");
  expect(renewalIdOf({ raw, serialNumber: "87654321" } as X509Certificate)).toBe("aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE");
});

test("a self-signed certificate contains the host names, and its key can be used", () => {
  const pem = createPlaceholder(["shop.example.com", "www.example.com"], Date.now());
  const { leaf } = parseCertificate({ cert: pem, key: pem }, files);
  expect(leaf.subjectAltName).toBe("DNS:shop.example.com, DNS:www.example.com");
  expect(leaf.verify(leaf.publicKey)).toBe(true);
});

test.each([
  ["dns", "(DNS)", "Create its A or AAAA record"],
  ["connection", "(port 80)", "Open port 80"],
  ["caa", "(CAA)", "Allow it in the record"],
  ["rateLimited", "limits requests", "Wait"],
  ["rejectedIdentifier", "refused", "such as --acme"],
])("an error of the authority (%s) is explained, with a remedy", (type, reason, remedy) => {
  const problem = new AcmeProblem({ type: `urn:ietf:params:acme:error:${type}`, detail: "Because" });
  const described = describeError(problem, { names: ["shop.example.com"] }, from);
  expect(described.message).toContain("for shop.example.com: ");
  expect(described.message).toContain(reason);
  expect(described.message).toEndWith("The error: Because.");
  expect(described.remedy).toContain(remedy);
  expect(described.remedy).toContain("2026-11-01T00:00:00.000Z");
});
