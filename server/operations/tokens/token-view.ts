import type { ResponseBody } from '../../http/handler.ts';
import { earliest } from '../../store/queries/lineage.ts';
import type { TokenRecord } from '../../store/queries/tokens.ts';
import type { TokenStatus } from '../../store/schema.ts';

type TokenView = ResponseBody<'createToken', 200>['data'];

/** A key as clients see it; `key` is the secret itself where it is shown, else its mask. */
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
  };
}

/** Nobody has to use a key to find out that it has expired, or has no quota left. */
function statusOf(token: TokenRecord, now: number): TokenStatus {
  if (token.status !== 1) return token.status;
  if (token.lineage.isCutOff) return 2;
  const end = earliest(token.expiredTime, token.lineage.expiredTime);
  if (end !== -1 && end * 1000 <= now) return 3;
  return token.unlimitedQuota || token.remainQuota > 0 ? 1 : 4;
}
