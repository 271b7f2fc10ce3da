import type { components } from '../../generated/http.ts';
import { invalid } from '../lib/failure.ts';
import type { Settings } from '../settings/settings.ts';
import type { TokenFields } from '../store/commands/tokens.ts';
import { readAllowIps } from './addresses.ts';

type KeyRequest = Omit<components['schemas']['UpdateTokenRequest'], 'name' | 'status'>;

const maxModels = 500;

/**
 * Converts the fields that an admin sets on a key. Absent fields stay undefined.
 *
 * @throws Failure 400 for an invalid field
 */
export function readKeyFields(
  { group, model_limits: models, allow_ips: addresses, expired_time: expiry, ...request }: KeyRequest,
  groups: Settings['groups'],
  now: number,
): Omit<TokenFields, 'name' | 'status'> {
  if (group !== undefined && group !== '') requireGroup(groups, group);
  if (expiry !== undefined) requireFutureExpiry(expiry, now);
  return {
    unlimitedQuota: request.unlimited_quota,
    expiredTime: expiry,
    modelLimits: models === undefined ? undefined : readModelLimits(models),
    allowIps: addresses === undefined ? undefined : readAllowIps(addresses),
    group: group === '' ? null : group,
    adminScope: request.admin,
    canCreateKeys: request.create_keys,
    requestsPerMinute: request.requests_per_minute,
    sockets: request.sockets,
  };
}

/** @throws Failure 400 when the configuration has no such group */
export function requireGroup(groups: Settings['groups'], name: string): void {
  if (!Object.hasOwn(groups, name)) throw invalid('group', `there is no group "${name}".`);
}

/** Checks an expiry in Unix seconds, -1 for none. `now` is in epoch milliseconds. @throws Failure 400 */
export function requireFutureExpiry(expiredTime: number, now: number): void {
  if (expiredTime !== -1 && expiredTime * 1000 <= now)
    throw invalid('expired_time', 'must be a Unix time in the future, or -1 for a key that never expires.');
}

/** Parses the model ids of `model_limits`. Returns null when there are none. @throws Failure 400 */
export function readModelLimits(text: string): string[] | null {
  const ids = [...new Set(text.split(',').map((id) => id.trim()))].filter((id) => id !== '');
  if (ids.length > maxModels) throw invalid('model_limits', `must name at most ${maxModels} models.`);
  if (ids.some((id) => id.includes('*')))
    throw invalid('model_limits', 'must contain model ids, not patterns.');
  return ids.length === 0 ? null : ids;
}
