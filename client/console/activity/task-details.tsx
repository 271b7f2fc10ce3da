import { useSignal } from '@preact/signals';
import type { AdminTaskDetails, MyTaskDetails } from '../../index.ts';
import { Code } from '../calls/call-panel.tsx';
import { SandboxBadge } from '../calls/cost.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { ErrorNotice } from '../parts/notices.tsx';
import { formatUnits, Time } from '../parts/numbers.tsx';
import { Quota } from '../parts/quota.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { State } from './activity-table.tsx';
import { Charge, PricedFigures } from './charge.tsx';
import { Media } from './media.tsx';
import { rowOfTask } from './row.ts';
import { CancelTask, Deliveries } from './task-actions.tsx';
import { Timeline } from './timeline.tsx';
import { useTask } from './use-task.ts';

/** A task with its files, timeline, cost, request and response. */
export function TaskDetails({ id }: { id: string }) {
  const refreshes = useSignal(0);
  const { own, operator, error } = useTask(id, refreshes.value).value;
  const task = own ?? operator;
  const refresh = () => {
    refreshes.value += 1;
  };
  return (
    <>
      <h2>Task</h2>
      <p class="row">
        <code class="id">{id}</code>
        <CopyButton text={id} label="Copy the task id" />
      </p>
      {error !== undefined && <ErrorNotice error={error} />}
      {task && (
        <div class="stack">
          <Facts task={task} />
          {task.error && (
            <p class="notice notice-danger">
              {task.error.code}: {task.error.message}
            </p>
          )}
          <CancelTask task={task} onCanceled={refresh} />
          {own && <Media response={own.response} />}
          <section class="stack">
            <h3>Timeline</h3>
            <Timeline events={task.timeline} />
          </section>
          <section class="stack">
            <h3>Cost</h3>
            <Cost task={task} own={own} />
          </section>
          {own && <Bodies task={own} />}
          {operator && <OperatorFacts task={operator} />}
          {operator?.callback && <Deliveries taskId={id} onResent={refresh} />}
        </div>
      )}
    </>
  );
}

function Facts({ task }: { task: MyTaskDetails | AdminTaskDetails }) {
  const row = rowOfTask(task);
  return (
    <dl class="facts">
      <dt>State</dt>
      <dd>
        <span role="status">
          <State {...row} />
        </span>{' '}
        {'sandbox' in task && task.sandbox && <SandboxBadge />}
      </dd>
      {task.queue?.estimated_start_at !== undefined && (
        <>
          <dt>Estimated start</dt>
          <dd>
            <Time at={task.queue.estimated_start_at * 1_000} />
          </dd>
        </>
      )}
      <dt>Model</dt>
      <dd>{task.model}</dd>
      <dt>Operation</dt>
      <dd>
        {task.operation} ({task.format})
      </dd>
      <dt>Key</dt>
      <dd>{task.token_name ?? 'deleted'}</dd>
      <dt>Request</dt>
      <dd>
        <code>{task.request_id}</code>
      </dd>
      <dt>Created</dt>
      <dd>
        <Time at={task.created_at * 1_000} />
      </dd>
    </dl>
  );
}

function Cost({ task, own }: { task: MyTaskDetails | AdminTaskDetails; own: MyTaskDetails | undefined }) {
  const charge = own?.charge;
  if (charge)
    return (
      <>
        {charge.price_rule && <PricedFigures rule={charge.price_rule} />}
        <Charge
          units={charge.unit_price === null ? undefined : charge.units}
          unit={charge.unit}
          unitPrice={charge.unit_price ?? 0}
          groupRatio={charge.group_ratio}
          quota={charge.charged}
          refunded={charge.refunded}
          debt={charge.debt}
        />
      </>
    );
  return (
    <p class="numeric">
      {task.charged === null ? (
        <>
          <Quota amount={task.reserved ?? 0} /> reserved for {formatUnits(task.expected_units, task.unit)}
        </>
      ) : (
        <Quota amount={task.charged} />
      )}
    </p>
  );
}

/** The stored parts of the request, and the task in its own format. */
function Bodies({ task }: { task: MyTaskDetails }) {
  const selected = useSignal('Response');
  const value = selected.value === 'Response' ? task.response : task.request;
  return (
    <Tabs
      label="Bodies"
      names={['Response', 'Request']}
      selected={selected.value}
      onSelect={(name) => (selected.value = name)}
    >
      <Code text={JSON.stringify(value, undefined, 2)} label={selected.value} />
    </Tabs>
  );
}

function OperatorFacts({ task }: { task: AdminTaskDetails }) {
  return (
    <section class="stack">
      <h3>Operator</h3>
      <dl class="facts">
        <dt>User</dt>
        <dd>{task.user_id}</dd>
        <dt>Channel</dt>
        <dd>
          {task.channel} ({task.driver})
        </dd>
        <dt>Provider id</dt>
        <dd>{task.upstream_id ? <code>{task.upstream_id}</code> : 'none'}</dd>
        {task.failures > 0 && (
          <>
            <dt>Failed polls</dt>
            <dd>{task.failures}</dd>
          </>
        )}
        {task.next_poll_at && (
          <>
            <dt>Next poll</dt>
            <dd>
              <Time at={task.next_poll_at * 1_000} />
            </dd>
          </>
        )}
        <dt>Deadline</dt>
        <dd>
          <Time at={task.deadline_at * 1_000} />
        </dd>
      </dl>
    </section>
  );
}
