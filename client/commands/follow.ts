import { wait } from '../retry.ts';

const maxPageSize = 100;
/** Items may be stored in another order than their times. */
const overlapSeconds = 60;

interface FollowOptions {
  /** Maximum number of items in the first batch. */
  lines: number;
  intervalMs: number;
  /** Whether the first batch is the only one. */
  isOnce?: boolean;
  signal: AbortSignal;
}

/**
 * Polls a list that is sorted by time, newest first. Yields the latest items as the first batch, then batches of new items,
 * all oldest first. Batches may be empty.
 */
export async function* follow<Item extends { id: number | string; created_at: number }>(
  list: (query: { start: number; page_size: number }) => AsyncIterable<Item>,
  { lines, intervalMs, isOnce = false, signal }: FollowOptions,
): AsyncGenerator<Item[], void> {
  const page_size = isOnce ? Math.min(lines, maxPageSize) : maxPageSize;
  let start = 0;
  let known = new Map<Item['id'], Item>();
  for (let isFirst = true; ; isFirst = false) {
    const found = new Map<Item['id'], Item>();
    let newest: number | undefined;
    for await (const item of list({ start, page_size })) {
      newest ??= item.created_at;
      if (isFirst && found.size >= lines && (isOnce || item.created_at < newest - overlapSeconds)) break;
      found.set(item.id, item);
    }
    const fresh = [...found.values()].filter(({ id }) => !known.has(id));
    yield (isFirst ? fresh.slice(0, lines) : fresh).reverse();
    if (isOnce) return;
    // Later requests do not return items from before their start.
    known = found;
    if (newest !== undefined) start = Math.max(start, newest - overlapSeconds);
    await wait(intervalMs, signal);
  }
}
