import { accessDenied, type Failure, invalid } from '../lib/failure.ts';
import type { NewToken } from '../store/commands/accounts.ts';
import type { TokenFields } from '../store/commands/tokens.ts';
import {
  findToken,
  hasAdminAccess,
  hasLimits,
  type LimitField,
  limitsOn,
  type TokenRecord,
} from '../store/queries/tokens.ts';
import type { Store } from '../store/store.ts';

const limitNames: Readonly<Record<LimitField, string>> = {
  unlimited_quota: 'a limit of quota (set unlimited_quota to true)',
  model_limits: 'model_limits',
  expired_time: 'an expired_time (-1 removes it)',
  requests_per_minute: 'requests_per_minute, of its own or of the key whose allowance it shares',
  sockets: 'sockets',
};

/** Builds a 400 for limits of a key with the scope `admin`. Names a limit that the request sets, or else `admin`. */
export function limitsRefused(limits: readonly LimitField[], request: object): Failure {
  const requested = limits.find((field) => field in request);
  if (requested === 'unlimited_quota')
    return invalid(requested, 'must be true for a key with the scope admin.');
  if (requested !== undefined) return invalid(requested, 'must not limit a key with the scope admin.');
  const named = limits.map((field) => limitNames[field]).join(', ');
  return invalid('admin', `a key with this scope must have no limits, and this one has ${named}.`);
}

/** Refuses limits of a new key with the scope `admin`. @throws Failure 400 */
export function requireNoLimits(key: TokenFields & Pick<NewToken, 'allowanceId'>, request: object): void {
  const limits = limitsOn({
    unlimitedQuota: key.unlimitedQuota ?? false,
    modelLimits: key.modelLimits ?? null,
    expiredTime: key.expiredTime ?? -1,
    requestsPerMinute: key.requestsPerMinute ?? null,
    sockets: key.sockets ?? null,
    allowanceId: key.allowanceId ?? null,
  });
  if (limits.length > 0) throw limitsRefused(limits, request);
}

/** Builds a 403 for a key without admin access that gives the scope `admin`. */
export const scopeDenied = (): Failure =>
  accessDenied('admin: only a key with the scope admin can give this scope.');

/** Builds a 400 for the scope `admin` on a key of an ordinary user. */
export const userNotAdmin = (): Failure =>
  invalid('admin', 'the user of the key must have the role admin to have this scope.');

/**
 * Refuses that a key without admin access deletes another one with the scope `admin`, because that could lock the operator
 * out. A key with limits is not checked: it can only delete keys created with it.
 *
 * @throws Failure 403
 */
export async function requireDeletionRight(
  { read }: Pick<Store, 'read'>,
  own: TokenRecord,
  id: number,
): Promise<void> {
  if (hasLimits(own) || hasAdminAccess(own) || id === own.id) return;
  const other = await findToken(read, id);
  if (other?.userId === own.userId && other.adminScope)
    throw accessDenied('id: only a key with the scope admin can delete one with this scope.');
}

/** Refuses a change of a session key, whose rights are those of its user or member. @throws Failure 403 */
export async function refuseSessionKey(
  { read }: Pick<Store, 'read'>,
  id: number,
  field: string,
): Promise<void> {
  if ((await findToken(read, id))?.isSession === true)
    throw accessDenied(`${field}: a session key has no quota, limits or budget of its own.`);
}
