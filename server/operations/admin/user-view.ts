import type { ResponseBody } from '../../http/handler.ts';
import { invalid } from '../../lib/failure.ts';
import { unixTime } from '../../providers/video-task.ts';
import type { Settings } from '../../settings/settings.ts';
import type { UserRecord } from '../../store/queries/users.ts';

type UserView = ResponseBody<'updateUser', 200>['data'];

/** A user as admins see it. */
export function viewUser({ createdAt, remainQuota, usedQuota, ...user }: UserRecord): UserView {
  return {
    id: user.id,
    name: user.name,
    group: user.group,
    role: user.role,
    disabled: user.disabled,
    created_time: unixTime(createdAt),
    keys: user.keys,
    remain_quota: remainQuota,
    used_quota: usedQuota,
  };
}

/** @throws Failure 400 when the configuration has no such group */
export function requireGroup(groups: Settings['groups'], name: string): void {
  if (!Object.hasOwn(groups, name)) throw invalid('group', `there is no group "${name}".`);
}
