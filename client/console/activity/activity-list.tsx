import { useSignal } from '@preact/signals';
import { Activity, SearchX } from 'lucide';
import { useEffect, useMemo } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import { EmptyState, ErrorNotice } from '../parts/notices.tsx';
import { useClient } from '../session/session.ts';
import { ActivityTable } from './activity-table.tsx';
import { type Filters, setFilters } from './filters.ts';
import { isRequestId, NotLogged } from './not-logged.tsx';
import { type Row, rowOfEntry, rowOfTask } from './row.ts';
import { adminTaskSource, entrySource, isRunning, taskSource } from './sources.ts';
import { useFeed } from './use-feed.ts';

/** Rows that fill a high screen, and entries that are read to find them before the user asks for more. */
const minRows = 30;
const maxSkipped = 1_000;

/** The table of the calls and tasks that match the filters. */
export function ActivityList({ filters }: { filters: Filters }) {
  const client = useClient();
  const chosen = useSignal<string | undefined>(undefined);
  const { view, search, model, state, hours, token, all, task, request } = filters;
  const entries = useFeed(
    view === 'Tasks' ? undefined : entrySource(client, filters),
    [view === 'Tasks', search, model, state, hours, token].join(' '),
  );
  // Beside the log, the tasks that have not ended are shown. They cannot be searched.
  const showsTasks =
    view === 'Tasks' || (view === 'All' && search === '' && (state === '' || isRunning(state)));
  const tasks = useFeed(
    showsTasks && !all ? taskSource(client, filters) : undefined,
    [showsTasks, all, model, state, hours].join(' '),
  );
  const allTasks = useFeed(
    view === 'Tasks' && all ? adminTaskSource(client, filters) : undefined,
    [view, all, model, state, hours, token].join(' '),
  );
  const feeds = [entries, tasks, allTasks].filter((feed) => feed !== undefined);
  const listed = view === 'Tasks' ? (allTasks ?? tasks) : entries;
  const entryItems = entries?.items.value;
  const taskItems = (allTasks ?? tasks)?.items.value;
  const rows = useMemo(() => {
    const ofTasks = (taskItems ?? []).map(rowOfTask);
    if (view === 'Tasks') return ofTasks;
    const ofEntries = (entryItems ?? [])
      .map(rowOfEntry)
      .filter(({ taskId }) => view === 'All' || taskId === undefined);
    // The log contains a task when it has ended.
    const ended = new Set(ofEntries.map(({ key }) => key));
    return [
      ...ofTasks.filter(
        ({ key, progress, tokenId }) =>
          progress !== undefined && !ended.has(key) && (token === '' || tokenId === Number(token)),
      ),
      ...ofEntries,
    ];
  }, [entryItems, taskItems, view, token]);

  const opened = (row: Row) =>
    task ? row.taskId === task : row.taskId === undefined && row.requestId === request;
  // Several entries can have one request id.
  const selected = rows.find((row) => row.key === chosen.value && opened(row)) ?? rows.find(opened);
  const select = (row: Row) => {
    chosen.value = row.key;
    setFilters(row.taskId ? { task: row.taskId, request: '' } : { task: '', request: row.requestId });
  };
  // Pages of the log can contain tasks only, which the view of calls leaves out.
  useEffect(() => {
    if (rows.length < minRows && (entryItems?.length ?? 0) < maxSkipped) void listed?.older();
  }, [entryItems]);
  const error = feeds.map((feed) => feed.error.value).find((value) => value !== undefined);
  const isLoaded = feeds.every((feed) => feed.isLoaded.value);
  const hasMore = listed?.hasMore.value ?? false;
  const isFiltered = [search, model, state, hours, token].some(Boolean);
  return (
    <div class="stack">
      {error !== undefined && <ErrorNotice error={error} />}
      {isLoaded && rows.length === 0 && !hasMore && error === undefined && isRequestId(search) ? (
        <EmptyState icon={SearchX} title="The request log has no entry with this id.">
          <NotLogged requestId={search} />
        </EmptyState>
      ) : isLoaded && rows.length === 0 && !hasMore && error === undefined ? (
        <EmptyState icon={Activity} title={isFiltered ? 'Nothing matches these filters.' : 'Nothing yet.'}>
          {isFiltered ? (
            <Button onClick={() => setFilters({ search: '', model: '', state: '', hours: '', token: '' })}>
              Clear the filters
            </Button>
          ) : (
            <a href="#/">Make your first call</a>
          )}
        </EmptyState>
      ) : (
        <ActivityTable
          rows={rows}
          selectedKey={selected?.key}
          onSelect={select}
          onEnd={() => void listed?.older()}
        >
          {isLoaded && hasMore && (
            <p class="activity-more">
              <Button small onClick={() => void listed?.older()}>
                Load older entries
              </Button>
            </p>
          )}
        </ActivityTable>
      )}
    </div>
  );
}
