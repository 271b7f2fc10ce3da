import type { ResponseBody } from '../../http/handler.ts';
import { unixTime } from '../../providers/video-task.ts';
import type { UserRecord } from '../../store/queries/users.ts';

/** Renders a user for admins. */
export function viewUser({
  createdAt,
  remainQuota,
  usedQuota,
  ...user
}: UserRecord): ResponseBody<'updateUser', 200>['data'] {
  return { ...user, created_time: unixTime(createdAt), remain_quota: remainQuota, used_quota: usedQuota };
}
