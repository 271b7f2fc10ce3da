import type { Signal } from '@preact/signals';
import { type AdminTaskDetails, APIError, type MyTaskDetails } from '../../index.ts';
import { usePolled } from '../calls/use-polled.ts';
import { isAdmin, useClient } from '../session/session.ts';

export interface TaskState {
  /** The task with its request and response. Undefined for a task of another user. */
  own?: MyTaskDetails | undefined;
  /** The task with the details for operators. */
  operator?: AdminTaskDetails | undefined;
  error?: unknown;
}

/** Follows a task until its end. `refreshes` loads it again. */
export function useTask(id: string, refreshes: number): Signal<TaskState> {
  const client = useClient();
  return usePolled<Pick<TaskState, 'own' | 'operator'>>(
    async (signal) => {
      const [own, operator] = await Promise.all([
        client.me.tasks.retrieve(id, { signal }).catch((error: unknown) => {
          if (isAdmin.peek() && error instanceof APIError && error.status === 404) return undefined;
          throw error;
        }),
        isAdmin.peek() ? client.admin.tasks.retrieve(id, { signal }) : undefined,
      ]);
      return { own, operator };
    },
    ({ own, operator }) => {
      const task = own ?? operator;
      const isEnded = task?.state === 'completed' || task?.state === 'failed';
      return task !== undefined && (!isEnded || task.callback === 'open');
    },
    [id, refreshes],
  );
}
