import type { ComponentChildren } from 'preact';
import { Badge } from '../parts/notices.tsx';
import { formatCount, formatDuration, Time } from '../parts/numbers.tsx';
import { Quota } from '../parts/quota.tsx';
import { type Column, VirtualTable } from '../parts/virtual-table.tsx';
import type { Row } from './row.ts';

const states = {
  queued: { tone: 'neutral', label: 'Queued' },
  in_progress: { tone: 'accent', label: 'Running' },
  completed: { tone: 'success', label: 'Completed' },
  failed: { tone: 'danger', label: 'Failed' },
  canceled: { tone: 'warning', label: 'Canceled' },
} as const;

/** The state of a call or task, with its progress while it runs or its position in the queue. */
export function State({
  state,
  progress,
  position,
}: Pick<Row, 'state'> & Partial<Pick<Row, 'progress' | 'position'>>) {
  const { tone, label } = states[state];
  return (
    <Badge tone={tone}>
      {label}
      {state === 'in_progress' && progress !== undefined && ` ${progress} %`}
      {position !== undefined && `, position ${formatCount(position)}`}
    </Badge>
  );
}

/** Used where the table is too narrow for the column of the time. */
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });

const columns: readonly Column<Row>[] = [
  { title: 'State', cell: (row) => <State {...row} /> },
  {
    title: 'Model',
    cell: ({ model, taskId, requestId }) => (
      <>
        <strong>{model}</strong>
        <br />
        <code class="muted">{taskId ?? requestId}</code>
      </>
    ),
  },
  { title: 'Key', minWidth: 'wide', cell: ({ keyName }) => keyName },
  {
    title: 'Quota',
    isNumber: true,
    cell: ({ quota, startedAt }) => (
      <>
        {quota === undefined ? <span class="muted">–</span> : <Quota amount={quota} hasNoUnit />}
        <div class="muted narrow-only">{clock.format(startedAt)}</div>
      </>
    ),
  },
  {
    title: 'Started',
    isNumber: true,
    minWidth: 'medium',
    cell: ({ startedAt, durationMs }) => (
      <>
        <Time at={startedAt} />
        {durationMs !== undefined && <div class="muted numeric">{formatDuration(durationMs)}</div>}
      </>
    ),
  },
];

interface ActivityTableProps {
  rows: readonly Row[];
  selectedKey: string | undefined;
  onSelect: (row: Row) => void;
  onEnd: () => void;
  children?: ComponentChildren;
}

export function ActivityTable(props: ActivityTableProps) {
  return (
    <VirtualTable
      {...props}
      label="Calls and tasks"
      className="activity-table"
      columns={columns}
      keyOf={({ key }) => key}
    />
  );
}
