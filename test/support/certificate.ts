import { makeCertificate } from "./make-certificate.ts";

/** The certificate of test servers and its key, for localhost and 127.0.0.1. Nothing trusts it by default. */
export const { cert: certificate, key: certificateKey } = makeCertificate();
