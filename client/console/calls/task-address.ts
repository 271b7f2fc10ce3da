import { useEffect } from 'preact/hooks';
import { useClient } from '../session/session.ts';
import { replaceQuery, route } from '../shell/router.ts';

/** A task that a page opens. */
export interface OpenedTask {
  id: string;
  /** Undefined if the gateway does not know the task. */
  operation?: string;
  request_id?: string;
}

/** Keeps the shown task and the address in step: `#/music?task=…` opens a task, and a new task changes the address. */
export function useTaskInAddress(shownId: string | undefined, open: (task: OpenedTask) => void): void {
  const client = useClient();
  const shown = route.value;
  const id = shown.query.get('task');
  useEffect(() => {
    if (id === null || id === shownId) return;
    let isCurrent = true;
    // The wait for an unknown task shows the error.
    const found = client.me.tasks.retrieve(id).catch((): OpenedTask => ({ id }));
    void found.then((task) => {
      if (isCurrent) open(task);
    });
    return () => {
      isCurrent = false;
    };
  }, [id]);
  useEffect(() => {
    if (shownId !== undefined && shownId !== id) replaceQuery({ task: shownId }, shown);
  }, [shownId]);
}
