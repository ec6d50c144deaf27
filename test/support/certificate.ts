/**
 * The certificate of test servers, for localhost and 127.0.0.1. It is self-signed, so nothing trusts it by default.
 * Valid until 2125.
 */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBuTCCAV+gAwIBAgIUM+v+ERbAPwjfizzGpvt7qVDV5q8wCgYIKoZIzj0EAwIw
IzEhMB8GA1UEAwwYbWFpbCBzZXJ2ZXIgb2YgdGhlIHRlc3RzMCAXDTI2MTEyMTAx
NDYyNVoYDzIxMjYxMDI4MDE0NjI1WjAjMSEwHwYDVQQDDBhtYWlsIHNlcnZlciBv
ZiB0aGUgdGVzdHMwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQ/9nejEOxTEA+m
/BXZS+2g8b49tqS1Nf8qvXZyegNZvzUMTOX+ap9IA0c33baM3kgGU6sS0gkLMOyp
0E+5rDL1o28wbTAdBgNVHQ4EFgQUXsjW1OLEeJx4v3lhXGnvjVrKKj4wHwYDVR0j
BBgwFoAUXsjW1OLEeJx4v3lhXGnvjVrKKj4wDwYDVR0TAQH/BAUwAwEB/zAaBgNV
HREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZIzj0EAwIDSAAwRQIhAMYfzF8E
YMZ/V5N6uICokZyUCYiHXerk7NRZG3AW/S4BAiButuS/GecJBWc3+NBVXipmCvu4
+Bw7UZlHsbT3bEmGEA==
-----END CERTIFICATE-----
`;

/** The private key of the certificate. Only tests use it. */
export const certificateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLZ1LfNLbWyQCIktp
/6LU7Bpx/JY/heONdKcj44yqfYuhRANCAAQ/9nejEOxTEA+m/BXZS+2g8b49tqS1
Nf8qvXZyegNZvzUMTOX+ap9IA0c33baM3kgGU6sS0gkLMOyp0E+5rDL1
-----END PRIVATE KEY-----
`;
