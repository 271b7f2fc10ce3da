import { useSignal } from '@preact/signals';
import type { AdminTaskDetails, MyTaskDetails } from '../../index.ts';
import { useLoaded, useRun } from '../calls/run.ts';
import { Button } from '../parts/button.tsx';
import { Badge, ErrorNotice } from '../parts/notices.tsx';
import { isAdmin, useClient } from '../session/session.ts';

interface CancelTaskProps {
  task: MyTaskDetails | AdminTaskDetails;
  onCanceled: () => void;
}

/** A button for a task that can still be canceled: a queued one, of two formats unless the key is an admin key. */
export function CancelTask({ task: { id, state, format }, onCanceled }: CancelTaskProps) {
  const client = useClient();
  const run = useRun<void>();
  const call = run.state.value;
  if (state !== 'queued' || !(isAdmin.value || format === 'native' || format === 'official')) return null;
  const cancel = async (signal: AbortSignal) => {
    if (isAdmin.value) await client.admin.tasks.cancel(id, { signal });
    else if (format === 'native') await client.nativeVideos.cancel(id, { signal });
    else await client.officialVideos.delete(id, { signal });
    onCanceled();
  };
  return (
    <>
      <div>
        <Button variant="danger" busy={call.status === 'running'} onClick={() => void run.start(cancel)}>
          Cancel task
        </Button>
      </div>
      {call.status === 'failed' && <ErrorNotice error={call.error} />}
    </>
  );
}

const tones = { open: 'accent', delivered: 'success', given_up: 'danger' } as const;
const labels = { open: 'Open', delivered: 'Delivered', given_up: 'Given up' } as const;

/** The callbacks of a task, each of which an admin can send again. */
export function Deliveries({ taskId, onResent }: { taskId: string; onResent: () => void }) {
  const client = useClient();
  const reloads = useSignal(0);
  const resend = useRun<void>();
  const list = useLoaded(
    (signal) => client.admin.deliveries.list({ task_id: taskId, page_size: 100 }, { signal }),
    reloads.value,
  ).state.value;
  const call = resend.state.value;
  return (
    <section class="stack">
      <h3>Callbacks</h3>
      {list.status === 'failed' && <ErrorNotice error={list.error} />}
      {call.status === 'failed' && <ErrorNotice error={call.error} />}
      {list.status === 'done' &&
        list.result.items.map(({ id, event, host, state, last_status: status, last_error: error }) => (
          <div key={id} class="row-between">
            <span>
              <Badge tone={tones[state]}>{labels[state]}</Badge> {event} to {host}
              {status !== null && `, status ${status}`}
              {error !== null && `, ${error}`}
            </span>
            <Button
              small
              busy={call.status === 'running'}
              onClick={() =>
                void resend.start(async (signal) => {
                  await client.admin.deliveries.resend(id, { signal });
                  reloads.value += 1;
                  onResent();
                })
              }
            >
              Send again
            </Button>
          </div>
        ))}
    </section>
  );
}
