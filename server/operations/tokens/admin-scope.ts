import { Failure, invalid } from '../../lib/failure.ts';
import type { NewToken } from '../../store/commands/accounts.ts';
import type { TokenFields } from '../../store/commands/tokens.ts';
import { type LimitField, limitsOn } from '../../store/queries/tokens.ts';

/** Names each field as a limit of a key. */
const limitNames: Readonly<Record<LimitField, string>> = {
  unlimited_quota: 'a limit of quota (set unlimited_quota to true)',
  model_limits: 'model_limits',
  expired_time: 'an expired_time (-1 removes it)',
  requests_per_minute: 'requests_per_minute, of its own or of the key whose allowance it shares',
  sockets: 'sockets',
};

/** 400 for limits of a key with the scope `admin`. Names a limit that the request sets, or else `admin`. */
export function limitsRefused(limits: readonly LimitField[], body: object): Failure {
  const asked = limits.find((field) => field in body);
  if (asked === 'unlimited_quota') return invalid(asked, 'must be true for a key with the scope admin.');
  if (asked !== undefined) return invalid(asked, 'must not limit a key with the scope admin.');
  const named = limits.map((field) => limitNames[field]).join(', ');
  return invalid('admin', `a key with this scope must have no limits, and this one has ${named}.`);
}

/** Refuses limits of a new key with the scope `admin`. @throws Failure 400 */
export function requireNoLimits(key: TokenFields & Pick<NewToken, 'allowanceId'>, body: object): void {
  const limits = limitsOn({
    unlimitedQuota: key.unlimitedQuota ?? false,
    modelLimits: key.modelLimits ?? null,
    expiredTime: key.expiredTime ?? -1,
    requestsPerMinute: key.requestsPerMinute ?? null,
    sockets: key.sockets ?? null,
    allowanceId: key.allowanceId ?? null,
  });
  if (limits.length > 0) throw limitsRefused(limits, body);
}

/** 403 for a key that gives the scope `admin` without admin access. */
export const scopeDenied = (): Failure =>
  new Failure(403, 'access_denied', 'admin: only a key with the scope admin can give this scope.');

/** 400 for the scope `admin` on a key of an ordinary user. */
export const userNotAdmin = (): Failure =>
  invalid('admin', 'the user of the key must have the role admin to have this scope.');
