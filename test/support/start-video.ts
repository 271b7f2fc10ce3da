import { inject, vi } from 'vitest';
import type { components } from '../../generated/http.ts';
import { post } from '../server/ledger.ts';

export type VideoTask = components['schemas']['VideoTask'];

export const eta = { model: 'eta-imagine-video', prompt: 'A paper boat.', seconds: '2', resolution: '480p' };

/** Starts a video task on the gateway under test. Returns its id. */
export async function startVideo(change: object = {}, path = '/v1/videos'): Promise<string> {
  const { url, key } = inject('gateway');
  const response = await post(url, key, path, { ...eta, ...change });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  const { id } = (await response.json()) as VideoTask;
  return id;
}

/** Waits for the end of a task. Returns it. */
export async function videoEnded(id: string): Promise<VideoTask> {
  const { url, key } = inject('gateway');
  return vi.waitFor(
    async () => {
      const headers = { authorization: `Bearer ${key}` };
      const task = (await (await fetch(`${url}/v1/videos/${id}`, { headers })).json()) as VideoTask;
      if (task.status !== 'completed' && task.status !== 'failed')
        throw new Error(`the task is ${task.status}`);
      return task;
    },
    { timeout: 15_000, interval: 100 },
  );
}
