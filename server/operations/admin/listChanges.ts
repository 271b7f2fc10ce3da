import type { Handler } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';
import { unixTime } from '../../providers/video-task.ts';
import { listChanges as findChanges } from '../../store/queries/changes.ts';
import { success } from '../success.ts';

/** Lists the changes by admins, newest first. */
export const listChanges: Handler<'listChanges'> = async ({ gateway, query }, reply) => {
  const { changes, total } = await findChanges(gateway.store.read, {
    action: query.action,
    subject: query.subject,
    userId: query.user_id,
    since: query.since === undefined ? undefined : query.since * 1000,
    until: query.until === undefined ? undefined : query.until * 1000,
    ...readPage(query),
  });
  const items = changes.map(({ details, created_at, ...change }) => ({
    ...change,
    details: JSON.parse(details) as Record<string, unknown>,
    created_at: unixTime(created_at),
  }));
  reply.json(200, success({ items, total }));
};
