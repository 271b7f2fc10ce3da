import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { VideoPage } from '../../index.ts';
import { useLoaded } from '../calls/run.ts';
import { Button } from '../parts/button.tsx';
import { Badge, ErrorNotice } from '../parts/notices.tsx';
import { Time } from '../parts/numbers.tsx';
import { useClient } from '../session/session.ts';

const pageSize = 10;

interface RecentTasksProps {
  /** Id of the task that the page shows. */
  shownId: string | undefined;
  /** The list is loaded again when this changes. */
  refreshKey: string;
  onOpen: (id: string) => void;
}

/** The newest tasks of the key in the videos format. */
export function RecentTasks({ shownId, refreshKey, onOpen }: RecentTasksProps) {
  const client = useClient();
  const limit = useSignal(pageSize);
  const loaded = useLoaded<VideoPage>(
    async (abort) => await client.videos.list({ limit: limit.value }, { signal: abort }),
    `${refreshKey} ${limit.value}`,
  );
  const state = loaded.state.value;
  // The list before stays while a new one is loaded, so that the page does not jump.
  const known = useRef<VideoPage>(undefined);
  if (state.status === 'done') known.current = state.result;
  if (state.status === 'failed') return <ErrorNotice error={state.error} />;
  const { data: tasks, has_more: hasMore } = known.current ?? { data: [], has_more: false };
  if (tasks.length === 0) return null;
  return (
    <section class="stack" aria-labelledby="recent-tasks">
      <h2 id="recent-tasks">Recent tasks</h2>
      <div class="table-scroll">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Created</th>
              <th scope="col">State</th>
              <th scope="col" class="wide-only">
                Model
              </th>
              <th scope="col" class="wide-only">
                Size
              </th>
              <th scope="col" class="wide-only number">
                Seconds
              </th>
              <th scope="col">
                <span class="visually-hidden">Open</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {tasks.map(({ id, created_at: createdAt, status, model, size, seconds }) => (
              <tr key={id} aria-current={id === shownId}>
                <td>
                  <Time at={createdAt * 1_000} />
                </td>
                <td>
                  <Badge tone={tones[status]}>{status.replace('_', ' ')}</Badge>
                </td>
                <td class="wide-only">{model}</td>
                <td class="wide-only">{size}</td>
                <td class="wide-only number">{seconds}</td>
                <td class="number">
                  <Button small onClick={() => onOpen(id)}>
                    Open
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {hasMore && (
        <div>
          <Button small onClick={() => (limit.value += pageSize)}>
            Show more
          </Button>
        </div>
      )}
    </section>
  );
}

const tones = { queued: 'neutral', in_progress: 'accent', completed: 'success', failed: 'danger' } as const;
