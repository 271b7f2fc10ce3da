import { documented } from '../contract/documented.ts';
import { jsonOf } from '../wire/http-response.ts';
import type { RunContext } from './run-context.ts';

/** Maximum number of log pages to read. */
const maxPages = 50;

/**
 * Sums the quota that the log shows since a time, in quota units. Null when the log cannot be read. Includes calls by
 * other users of the key.
 */
export async function quotaSince({ caller, target }: RunContext, since: Date): Promise<number | null> {
  const from = Math.floor(since.getTime() / 1000);
  let quota = 0;
  for (let page = 1; page <= maxPages; page += 1) {
    const query = { p: page, resultsize: 100 };
    const result = await caller.send(target, documented('searchLogs'), { query }).catch(() => undefined);
    if (result?.response.status !== 200) return null;
    const { data } = jsonOf(result.response) as { data: { items: { quota: number; created_at: number }[] } };
    const own = data.items.filter(({ created_at }) => created_at >= from);
    quota += own.reduce((sum, item) => sum + item.quota, 0);
    if (own.length < data.items.length || data.items.length === 0) return quota;
  }
  return quota;
}
