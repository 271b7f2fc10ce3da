import { Download } from 'lucide';
import { useEffect, useRef } from 'preact/hooks';
import { useLoaded, useRun } from '../calls/run.ts';
import { Button } from '../parts/button.tsx';
import { ErrorNotice } from '../parts/notices.tsx';
import { saveFile } from '../parts/save-file.ts';
import { isAdmin, session, useClient } from '../session/session.ts';
import { type Filters, setFilters, type View, views } from './filters.ts';
import { startOf } from './sources.ts';

const searchDelayMs = 300;
const ranges = {
  '': 'Any time',
  1: 'Last hour',
  24: 'Last 24 hours',
  168: 'Last 7 days',
  720: 'Last 30 days',
};
const runningStates = { queued: 'Queued', in_progress: 'Running' };
const endedStates = { completed: 'Completed', failed: 'Failed' };
const states: Readonly<Record<View, Readonly<Record<string, string>>>> = {
  All: { ...runningStates, ...endedStates, canceled: 'Canceled' },
  Calls: { ...endedStates, canceled: 'Canceled' },
  Tasks: { ...runningStates, ...endedStates },
};

/** The view, the search and the filters of the table. */
export function FilterBar({ filters }: { filters: Filters }) {
  const { view, model, state, hours, all } = filters;
  const models = session.value?.me.models ?? [];
  return (
    <div class="filter-bar">
      <div class="segments" role="group" aria-label="View">
        {views.map((name: View) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === view}
            onClick={() =>
              setFilters({ view: name, all: '', token: '', state: state in states[name] ? state : '' })
            }
          >
            {name}
          </button>
        ))}
      </div>
      {view === 'Tasks' ? <TaskSearch /> : <EntrySearch search={filters.search} />}
      <Select
        label="Model"
        value={model}
        options={{ '': 'All models', ...Object.fromEntries(models.map((id) => [id, id])) }}
        onSelect={(value) => setFilters({ model: value })}
      />
      <Select
        label="State"
        value={state}
        options={{ '': 'All states', ...states[view] }}
        onSelect={(value) => setFilters({ state: value })}
      />
      <Select
        label="Time"
        value={hours}
        options={ranges}
        onSelect={(value) => setFilters({ hours: value })}
      />
      {isAdmin.value && view === 'Tasks' && (
        <label class="check">
          <input
            type="checkbox"
            checked={all !== ''}
            onChange={(event) => setFilters({ all: event.currentTarget.checked ? '1' : '', token: '' })}
          />
          All users
        </label>
      )}
      {(view !== 'Tasks' || all) && <KeySelect token={filters.token} isAll={all !== ''} />}
      {isAdmin.value && view !== 'Tasks' && <Export filters={filters} />}
    </div>
  );
}

interface SelectProps {
  label: string;
  value: string;
  options: Readonly<Record<string, string>>;
  onSelect: (value: string) => void;
}

function Select({ label, value, options, onSelect }: SelectProps) {
  // Number-like names come first in an object: the empty value goes back to the top.
  const { '': first, ...others } = options;
  return (
    <select
      class="input"
      aria-label={label}
      value={value}
      onChange={(event) => onSelect(event.currentTarget.value)}
    >
      <option value="">{first}</option>
      {Object.entries(others).map(([name, text]) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  );
}

/** Searches while the user types. */
function EntrySearch({ search }: { search: string }) {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <input
      class="input"
      type="search"
      aria-label="Search by key, model, request id or task id"
      placeholder="Search"
      maxLength={128}
      value={search}
      onInput={({ currentTarget: { value } }) => {
        clearTimeout(timer.current);
        timer.current = setTimeout(() => setFilters({ search: value.trim() }), searchDelayMs);
      }}
    />
  );
}

/** Opens a task by its complete id. */
function TaskSearch() {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const id = new FormData(event.currentTarget).get('id');
        if (typeof id === 'string' && id.trim() !== '') setFilters({ task: id.trim(), request: '' });
      }}
    >
      <input class="input" type="search" name="id" aria-label="Open a task by id" placeholder="Task id" />
    </form>
  );
}

/** Selects one of the keys that the signed-in key sees, or of all keys. */
function KeySelect({ token, isAll }: { token: string; isAll: boolean }) {
  const client = useClient();
  const keys = useLoaded(async (signal) => {
    const query = { page_size: 1_000 };
    if (!isAll)
      return (await client.tokens.list(query, { signal })).items.map(({ id, name }) => ({ id, name }));
    const { items } = await client.admin.tokens.list(query, { signal });
    return items.map(({ id, name, user_name: user }) => ({ id, name: `${name} (${user})` }));
  }, isAll).state.value;
  const items = keys.status === 'done' ? keys.result : [];
  return (
    <Select
      label="Key"
      value={token}
      options={{ '': 'All keys', ...Object.fromEntries(items.map(({ id, name }) => [id, name])) }}
      onSelect={(value) => setFilters({ token: value })}
    />
  );
}

/** Exports the request log of all users as CSV, with the model, the key and the time of the filters. */
function Export({ filters: { model, token, hours } }: { filters: Filters }) {
  const client = useClient();
  const run = useRun<void>();
  const state = run.state.value;
  const save = async (signal: AbortSignal) => {
    const since = startOf(hours);
    const query = {
      format: 'csv',
      ...(model && { model }),
      ...(token && { token_id: Number(token) }),
      ...(since && { since }),
    } as const;
    const file = await client.admin.logs.export(query, { signal });
    saveFile(await file.bytes(), 'text/csv', 'requests.csv');
  };
  return (
    <>
      <Button
        icon={Download}
        label="Export CSV of all users"
        busy={state.status === 'running'}
        onClick={() => void run.start(save)}
      >
        Export CSV
      </Button>
      {state.status === 'failed' && <ErrorNotice error={state.error} />}
    </>
  );
}
