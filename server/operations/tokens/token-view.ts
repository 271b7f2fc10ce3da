import type { ResponseBody } from '../../http/handler.ts';
import { earliest } from '../../store/queries/lineage.ts';
import type { TokenRecord } from '../../store/queries/tokens.ts';
import type { TokenStatus } from '../../store/schema.ts';

type TokenView = ResponseBody<'createToken', 200>['data'];

/** Renders a key for clients. `key` is its secret, by default masked. */
export function viewToken(token: TokenRecord, now: number, key = token.keyHint): TokenView {
  return {
    id: token.id,
    name: token.name,
    key,
    status: statusOf(token, now),
    remain_quota: token.remainQuota,
    used_quota: token.usedQuota,
    debt: token.debt,
    expired_time: token.expiredTime,
    created_by: token.makerId,
    created_time: token.createdTime,
    unlimited_quota: token.unlimitedQuota,
    model_limits_enabled: token.modelLimits !== null,
    model_limits: (token.modelLimits ?? []).join(','),
    allow_ips: (token.allowIps ?? []).join('\n'),
    group: token.group,
    admin: token.adminScope,
    create_keys: token.canCreateKeys,
    requests_per_minute: token.requestsPerMinute,
    sockets: token.sockets,
    member_id: token.memberId,
    session: token.isSession,
  };
}

/** Renders a key for admins. */
export function viewAnyToken(
  token: TokenRecord,
  now: number,
  key?: string,
): ResponseBody<'createUserToken', 200>['data'] {
  return {
    ...viewToken(token, now, key),
    own_group: token.ownGroup ?? '',
    user_id: token.userId,
    user_name: token.userName,
    user_disabled: token.userDisabled,
  };
}

/** Derives the status at `now`: 1 enabled, 2 disabled, 3 expired, 4 without quota. */
function statusOf(token: TokenRecord, now: number): TokenStatus {
  if (token.status !== 1) return token.status;
  if (token.lineage.isCutOff) return 2;
  const end = earliest(token.expiredTime, token.lineage.expiredTime);
  if (end !== -1 && end * 1000 <= now) return 3;
  return (token.unlimitedQuota || token.remainQuota > 0) && !token.hasEmptyWallet ? 1 : 4;
}
