// A foreign identity provider for tests, which is a real server. D-5.4.

import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { serveLocally } from "./serve-locally.ts";

const ISSUER = "https://id.example.com/";
const AUDIENCE = "repsync-test";

/** An identity provider that publishes one key, with the given fields in place of its own. */
export async function startProvider(algorithm = "ES256", damage: object = {}) {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = {
    ...(await exportJWK(publicKey)),
    kid: "key-1",
    alg: algorithm,
    use: "sig",
    ...damage,
  };
  const requests = { count: 0, isDown: false };
  const JWT_JWKS_URL = serveLocally(() => {
    requests.count++;
    if (requests.isDown) return new Response("no", { status: 500 });
    return Response.json({ keys: [jwk] });
  });
  const sign = (
    claims: JWTPayload,
    key: CryptoKey | Uint8Array = privateKey,
    alg = algorithm,
    header: { readonly typ?: string } = {},
  ) => {
    const nowSeconds = Math.floor(Date.now() / 1000);
    const all = { iss: ISSUER, aud: AUDIENCE, iat: nowSeconds, exp: nowSeconds + 600, ...claims };
    const defined = Object.fromEntries(
      Object.entries(all).filter(([, value]) => value !== undefined),
    );
    return new SignJWT(defined).setProtectedHeader({ alg, kid: "key-1", ...header }).sign(key);
  };
  const env = { JWT_JWKS_URL, JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE };
  return { env, sign, requests, publicJwk: jwk };
}
