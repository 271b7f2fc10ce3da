import { useEffect, useMemo } from 'preact/hooks';
import { APIError, type SucceededImageJob, TaskFailedError } from '../../index.ts';
import { TaskRun } from '../calls/task-run.ts';
import { useClient } from '../session/session.ts';
import { type JobEntry, removeEntry } from './jobs.ts';

export type JobRun = TaskRun<SucceededImageJob>;

/** The waits for the jobs that the page shows. */
export interface JobRuns {
  /** Returns the wait for a job. Starts it if necessary. */
  of(entry: JobEntry): JobRun;
  /** Returns the wait for a job, if it was started. It remains when the gateway does not know the job. */
  started(id: string | undefined): JobRun | undefined;
}

/** Returns the waits of the page, which end with it. */
export function useJobRuns(): JobRuns {
  const { imageJobs } = useClient();
  const runs = useMemo(() => new Map<string, JobRun>(), []);
  useEffect(
    () => () => {
      for (const run of runs.values()) run.stop();
    },
    [],
  );
  const start = async (entry: JobEntry, run: JobRun) => {
    await run.follow(imageJobs, entry.id, entry.requestId);
    const state = run.state.peek();
    // The job of another key, or one that the gateway has deleted.
    if (state.status === 'failed' && state.error instanceof APIError && state.error.status === 404)
      removeEntry(entry.id);
  };
  return {
    of(entry) {
      const known = runs.get(entry.id);
      if (known !== undefined) return known;
      const run: JobRun = new TaskRun();
      runs.set(entry.id, run);
      // After the current render, because it changes signals.
      queueMicrotask(() => void start(entry, run));
      return run;
    },
    started: (id) => (id === undefined ? undefined : runs.get(id)),
  };
}

/** Returns whether a job ended its wait because it needs a prompt or a mask. */
export function needsInput(run: JobRun): boolean {
  const state = run.state.value;
  return state.status === 'failed' && state.error instanceof TaskFailedError && state.error.code === 'MODAL';
}
