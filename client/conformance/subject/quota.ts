import { documented } from '../contract/documented.ts';
import { jsonOf } from '../wire/answer.ts';
import type { World } from './world.ts';

/** Most pages of the log that are read for it. */
const mostPages = 50;

/** Quota that the log tells of since a time, in quota units; null when it cannot be read. Others with the key count too. */
export async function quotaSince({ caller, target }: World, since: Date): Promise<number | null> {
  const from = Math.floor(since.getTime() / 1000);
  let quota = 0;
  for (let page = 1; page <= mostPages; page += 1) {
    const query = { p: page, page_size: 100 };
    const told = await caller.send(target, documented('searchLogs'), { query }).catch(() => undefined);
    if (told?.answer.status !== 200) return null;
    const { data } = jsonOf(told.answer) as { data: { items: { quota: number; created_at: number }[] } };
    const own = data.items.filter(({ created_at }) => created_at >= from);
    quota += own.reduce((sum, item) => sum + item.quota, 0);
    if (own.length < data.items.length || data.items.length === 0) return quota;
  }
  return quota;
}
