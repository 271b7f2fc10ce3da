import type { ResponseBody } from '../../http/handler.ts';
import { unixTime } from '../../providers/video-task.ts';
import type { UserRecord } from '../../store/queries/users.ts';

/** Renders a user for admins. */
export function viewUser({
  createdAt,
  remainQuota,
  usedQuota,
  hasWallet,
  parentId,
  ...user
}: UserRecord): ResponseBody<'updateUser', 200>['data'] {
  const quota = {
    remain_quota: remainQuota,
    used_quota: usedQuota,
    has_wallet: hasWallet,
    parent_id: parentId,
  };
  return { ...user, created_time: unixTime(createdAt), ...quota };
}
