import { useSignal } from '@preact/signals';
import { Activity } from 'lucide';
import { useMemo } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import { EmptyState, ErrorNotice } from '../parts/notices.tsx';
import { useClient } from '../session/session.ts';
import { ActivityTable } from './activity-table.tsx';
import { type Filters, setFilters } from './filters.ts';
import { type Row, rowOfEntry, rowOfTask } from './row.ts';
import { adminTaskSource, entrySource, taskSource } from './sources.ts';
import { useFeed } from './use-feed.ts';

/** The table of the calls and tasks that match the filters. */
export function ActivityList({ filters }: { filters: Filters }) {
  const client = useClient();
  const chosen = useSignal<string | undefined>(undefined);
  const { view, search, model, state, hours, token, all, task, request } = filters;
  const entries = useFeed(
    view === 'Tasks' ? undefined : entrySource(client, filters),
    [view === 'Tasks', search, hours].join(' '),
  );
  const showsTasks = view === 'Tasks' || (view === 'All' && search === '');
  const tasks = useFeed(
    showsTasks && !all ? taskSource(client, filters) : undefined,
    [showsTasks, all, model, state, hours].join(' '),
  );
  const allTasks = useFeed(
    view === 'Tasks' && all ? adminTaskSource(client, filters) : undefined,
    [view, all, model, state, hours, token].join(' '),
  );
  const feeds = [entries, tasks, allTasks].filter((feed) => feed !== undefined);
  const listed = view === 'Tasks' ? (all ? allTasks : tasks) : entries;
  const entryItems = entries?.items.value;
  const taskItems = (allTasks ?? tasks)?.items.value;
  const rows = useMemo(() => {
    const ofEntries = (entryItems ?? [])
      .map(rowOfEntry)
      .filter(
        (row) =>
          (view === 'All' || row.taskId === undefined) &&
          (model === '' || row.model === model) &&
          (state === '' || row.state === state),
      );
    const ofTasks = (taskItems ?? []).map(rowOfTask);
    if (view === 'Tasks') return ofTasks;
    // The log contains a task when it has ended.
    const ended = new Set(ofEntries.map(({ key }) => key));
    return [
      ...ofTasks.filter(({ key, progress }) => progress !== undefined && !ended.has(key)),
      ...ofEntries,
    ];
  }, [entryItems, taskItems, view, model, state]);

  const opened = (row: Row) =>
    task ? row.taskId === task : row.taskId === undefined && row.requestId === request;
  // Several entries can have one request id.
  const selected = rows.find((row) => row.key === chosen.value && opened(row)) ?? rows.find(opened);
  const select = (row: Row) => {
    chosen.value = row.key;
    setFilters(row.taskId ? { task: row.taskId, request: '' } : { task: '', request: row.requestId });
  };
  const error = feeds.map((feed) => feed.error.value).find((value) => value !== undefined);
  const isLoaded = feeds.every((feed) => feed.isLoaded.value);
  const hasMore = listed?.hasMore.value ?? false;
  const isFiltered = [search, model, state, hours, token].some(Boolean);
  return (
    <div class="stack">
      {error !== undefined && <ErrorNotice error={error} />}
      {isLoaded && rows.length === 0 && !hasMore && error === undefined ? (
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
