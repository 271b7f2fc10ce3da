import type { AdminTask, LogItem, MyTask, Unigate } from '../../index.ts';
import type { FeedSource } from './feed.ts';
import type { Filters } from './filters.ts';

const pageSize = 100;

/** The ended calls and tasks of the request log. Undefined if they cannot have the state of the filters. */
export function entrySource(client: Unigate, filters: Filters): FeedSource<LogItem> | undefined {
  const { search: keyword, model, state, hours, token } = filters;
  if (isRunning(state)) return undefined;
  const load = async (after: number | undefined, signal: AbortSignal) => {
    const start = startOf(hours);
    const query = {
      page_size: pageSize,
      ...(keyword && { keyword }),
      ...(model && { model }),
      ...(state && { state: state as EntryState }),
      ...(token && { token_id: Number(token) }),
      ...(start && { start }),
      ...(after && { after }),
    };
    const { items } = await client.logs.search(query, { signal });
    return { items, hasMore: items.length === pageSize };
  };
  return {
    idOf: ({ id }) => id,
    newest: (signal) => load(undefined, signal),
    older: (loaded, signal) => load(loaded.at(-1)?.id, signal),
  };
}

/** The tasks that the key sees. */
export function taskSource(client: Unigate, filters: Filters): FeedSource<MyTask> {
  const load = async (after: string | undefined, signal: AbortSignal) => {
    const { has_more: hasMore, items } = await client.me.tasks.list(
      { ...taskQuery(filters), ...(after && { after }) },
      { signal },
    );
    return { items, hasMore };
  };
  return {
    idOf: ({ id }) => id,
    newest: (signal) => load(undefined, signal),
    older: (loaded, signal) => load(loaded.at(-1)?.id, signal),
  };
}

/** The tasks of all users, for admins. */
export function adminTaskSource(client: Unigate, filters: Filters): FeedSource<AdminTask> {
  const load = async (p: number, signal: AbortSignal) => {
    const token = filters.token && { token_id: Number(filters.token) };
    const { items, total } = await client.admin.tasks.list(
      { ...taskQuery(filters), ...token, p },
      { signal },
    );
    return { items, hasMore: p * pageSize < total };
  };
  return {
    idOf: ({ id }) => id,
    newest: (signal) => load(1, signal),
    older: (loaded, signal) => load(Math.floor(loaded.length / pageSize) + 1, signal),
  };
}

type EntryState = NonNullable<LogItem['state']>;
type TaskState = 'queued' | 'in_progress' | 'completed' | 'failed';

function taskQuery({ model, state, hours }: Filters) {
  const since = startOf(hours);
  return {
    page_size: pageSize,
    ...(model && { model }),
    ...(state && { state: state as TaskState }),
    ...(since && { since }),
  };
}

/** Whether only tasks that have not ended have this state. */
export const isRunning = (state: string): boolean => state === 'queued' || state === 'in_progress';

/** Returns the start of a range that ends now. Unix time in seconds. */
export const startOf = (hours: string): number | undefined =>
  hours === '' ? undefined : Math.floor(Date.now() / 1_000) - Number(hours) * 3_600;
