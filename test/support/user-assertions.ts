import { SignJWT } from 'jose';

/** A secret of the proxy and the gateway. */
export const assertionSecret = 'assertion-secret-of-proxy-and-gateway';

interface Assertion {
  claims?: Readonly<Record<string, unknown>>;
  secret?: string;
  /** Lifetime in seconds. */
  lifetime?: number;
  /** Epoch milliseconds. */
  now?: number;
}

/** Signs a user assertion as a proxy does. `claims` override the standard ones; undefined removes one. */
export function signAssertion(
  sub: string,
  { claims = {}, secret = assertionSecret, lifetime = 60, now = Date.now() }: Assertion = {},
): Promise<string> {
  const seconds = Math.floor(now / 1000);
  const payload = { sub, aud: 'unigate', iat: seconds, exp: seconds + lifetime, ...claims };
  return new SignJWT(JSON.parse(JSON.stringify(payload)))
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(secret));
}

/** Exchanges an assertion for a session. */
export async function exchangeAssertion(
  url: string,
  assertion: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { ...headers, ...(assertion !== undefined && { 'x-unigate-user-assertion': assertion }) },
  });
}
