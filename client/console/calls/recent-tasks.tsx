import { useSignal } from '@preact/signals';
import type { MyTask, MyTaskQuery, OperationId } from '../../index.ts';
import { Button } from '../parts/button.tsx';
import { Badge, ErrorNotice } from '../parts/notices.tsx';
import { Time } from '../parts/numbers.tsx';
import { Quota } from '../parts/quota.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { useClient } from '../session/session.ts';
import { useLastResult, useLoaded } from './run.ts';

const shownTasks = 8;
/** Tasks that are read to find those of the page. */
const maxRead = 400;

interface RecentTasksProps {
  /** Operations whose tasks the page shows. */
  operations: readonly OperationId[];
  /** Format of the tasks. Undefined if the operations have several. */
  format?: MyTaskQuery['format'];
  /** Id of the task that the page shows. */
  shownId: string | undefined;
  /** The list is loaded again when this changes. */
  refreshKey: string;
  onOpen: (task: MyTask) => void;
}

/** The newest tasks of some operations that the key sees. */
export function RecentTasks({ operations, format, shownId, refreshKey, onOpen }: RecentTasksProps) {
  const client = useClient();
  const limit = useSignal(shownTasks);
  const loaded = useLoaded(async (signal) => {
    const found: MyTask[] = [];
    let read = 0;
    for await (const task of client.me.tasks.list(
      { page_size: 100, ...(format && { format }) },
      { signal },
    )) {
      read += 1;
      if (operations.some((name) => name === task.operation)) found.push(task);
      if (found.length > limit.value || read >= maxRead) break;
    }
    return found;
  }, `${refreshKey} ${limit.value}`);
  const state = loaded.state.value;
  const tasks = useLastResult(loaded) ?? [];
  if (state.status === 'failed') return <ErrorNotice error={state.error} />;
  if (tasks.length === 0) return null;
  return (
    <section class="stack recent-tasks" aria-labelledby="recent-tasks">
      <h2 id="recent-tasks">Recent tasks</h2>
      <div class="table-scroll">
        <table class="table">
          <TableHead
            columns={[
              'Created',
              'State',
              { title: 'Model', class: 'wide-only' },
              { title: 'Cost', class: 'wide-only number' },
              { title: 'Open', isHidden: true },
            ]}
          />
          <tbody>
            {tasks.slice(0, limit.value).map((task) => (
              <tr key={task.id} aria-current={task.id === shownId}>
                <td>
                  <Time isBrief at={task.created_at * 1_000} />
                </td>
                <td>
                  <Badge tone={tones[task.state]}>{task.state.replace('_', ' ')}</Badge>
                </td>
                <td class="wide-only">{task.model}</td>
                <td class="wide-only number">
                  {task.charged === null ? '–' : <Quota amount={task.charged - task.refunded} />}
                </td>
                <td class="number">
                  <Button small onClick={() => onOpen(task)}>
                    Open
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {tasks.length > limit.value && (
        <div>
          <Button small onClick={() => (limit.value += shownTasks)}>
            Show more
          </Button>
        </div>
      )}
    </section>
  );
}

const tones = { queued: 'neutral', in_progress: 'accent', completed: 'success', failed: 'danger' } as const;
