import { Failure } from '../lib/failure.ts';

/** Name of the header with which a proxy asserts who sent a request. */
export const assertionHeader = 'x-unigate-user-assertion';

/** How far ahead the expiry of an assertion may be, in seconds. */
const maxLifetimeSeconds = 600;
/** How much the clocks of the proxy and the gateway may differ, in seconds. */
const clockToleranceSeconds = 30;
/** A name in the contract: 1 to 64 characters, no control characters. */
const namePattern = /^\P{Cc}{1,64}$/u;

/** The user that an assertion names. */
export interface AssertedUser {
  userName: string;
  /** null: the user itself. */
  memberName: string | null;
}

/** Builds a 401 for an assertion. The message contains no part of it. */
function assertionRefused(message: string, cause?: unknown): Failure {
  return new Failure(401, 'invalid_user_assertion', message, { cause });
}

/**
 * Verifies a user assertion: its signature with HS256, its audience, its times and its names. `now`: epoch milliseconds.
 *
 * @throws Failure 401 that names the claim
 */
export async function verifyAssertion(
  assertion: string | undefined,
  secret: Uint8Array,
  now: number,
): Promise<AssertedUser> {
  if (assertion === undefined || assertion === '')
    throw assertionRefused(`${assertionHeader}: is required; the proxy of the operator adds it.`);
  // Node joins repeated headers with a comma, which no assertion contains.
  if (assertion.includes(',')) throw assertionRefused(`${assertionHeader}: must be sent once.`);
  // Loaded at the first use, because few gateways accept assertions.
  const { errors, jwtVerify } = await import('jose');
  try {
    const { payload } = await jwtVerify(assertion, secret, {
      algorithms: ['HS256'],
      audience: 'unigate',
      requiredClaims: ['sub', 'exp'],
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(now),
    });
    const latest = now / 1000 + clockToleranceSeconds;
    if ((payload.exp ?? 0) > latest + maxLifetimeSeconds)
      throw assertionRefused(`exp: must be at most ${maxLifetimeSeconds / 60} minutes ahead.`);
    if (payload.iat !== undefined && !(payload.iat <= latest))
      throw assertionRefused('iat: must not be in the future.');
    return {
      userName: nameIn('sub', payload.sub),
      memberName: payload.member === undefined ? null : nameIn('member', payload.member),
    };
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw assertionRefused(describeProblem(error, errors), error);
  }
}

type JoseErrors = typeof import('jose').errors;

function describeProblem(error: unknown, errors: JoseErrors): string {
  if (error instanceof errors.JWTExpired) return 'exp: the user assertion has expired.';
  if (error instanceof errors.JWTClaimValidationFailed) return describeClaim(error.claim, error.reason);
  if (error instanceof errors.JOSEAlgNotAllowed) return 'alg: must be HS256.';
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return `${assertionHeader}: the signature is not valid.`;
  return `${assertionHeader}: must be a JSON Web Token that is signed with HS256.`;
}

function describeClaim(claim: string, reason: string): string {
  if (reason === 'missing') return `${claim}: is required in the user assertion.`;
  if (claim === 'aud') return 'aud: must be unigate.';
  if (claim === 'nbf' && reason === 'check_failed') return 'nbf: the user assertion is not valid yet.';
  return `${claim}: is not valid in the user assertion.`;
}

/** @throws Failure 401 when the claim is no name */
function nameIn(claim: 'sub' | 'member', value: unknown): string {
  const isName = typeof value === 'string' && value.isWellFormed() && namePattern.test(value);
  if (isName) return value;
  throw assertionRefused(`${claim}: must be a name of 1 to 64 characters without control characters.`);
}
