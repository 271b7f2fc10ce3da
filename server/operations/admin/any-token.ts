import type { RequestBody, ResponseBody } from '../../http/handler.ts';
import { readAllowIps } from '../../keys/addresses.ts';
import type { Settings } from '../../settings/settings.ts';
import type { TokenFields } from '../../store/commands/tokens.ts';
import type { TokenRecord } from '../../store/queries/tokens.ts';
import { readExpiry, readModelLimits } from '../tokens/new-key.ts';
import { viewToken } from '../tokens/token-view.ts';
import { requireGroup } from './user-view.ts';

type Wanted = RequestBody<'createUserToken' | 'updateToken'>;

/**
 * What an admin says that a key may do; what is left out is undefined.
 *
 * @throws Failure 400 for what makes no sense
 */
export function limitsOfAnyKey(
  wanted: Omit<Wanted, 'name' | 'status' | 'remain_quota'>,
  groups: Settings['groups'],
  now: number,
): Omit<TokenFields, 'name' | 'status'> {
  const { group, model_limits: models, allow_ips: addresses, expired_time: expiry } = wanted;
  if (group !== undefined && group !== '') requireGroup(groups, group);
  return {
    unlimitedQuota: wanted.unlimited_quota,
    expiredTime: expiry === undefined ? undefined : readExpiry(expiry, now),
    modelLimits: models === undefined ? undefined : readModelLimits(models),
    allowIps: addresses === undefined ? undefined : readAllowIps(addresses),
    group: group === '' ? null : group,
    adminScope: wanted.admin,
    canCreateKeys: wanted.create_keys,
    requestsPerMinute: wanted.requests_per_minute,
    sockets: wanted.sockets,
  };
}

type TokenView = ResponseBody<'createUserToken', 200>['data'];

/** A key as admins see it; `key` is the secret itself where it is shown, else its mask. */
export function viewAnyToken(token: TokenRecord, now: number, key?: string): TokenView {
  return {
    ...viewToken(token, now, key),
    own_group: token.ownGroup ?? '',
    user_id: token.userId,
    user_name: token.userName,
    user_disabled: token.userDisabled,
  };
}
