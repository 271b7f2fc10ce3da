import type { components } from '../../../generated/http.ts';
import { unixTime } from '../../providers/video-task.ts';
import type { UserRecord } from '../../store/queries/users.ts';

/** Renders a sub-account for its customer. */
export function viewAccount(account: UserRecord): components['schemas']['Account'] {
  const { id, name, group, disabled, keys, usedQuota, createdAt } = account;
  return { id, name, group, disabled, keys, used_quota: usedQuota, created_time: unixTime(createdAt) };
}
