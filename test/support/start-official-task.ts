import { inject } from 'vitest';
import { post } from '../server/ledger.ts';

const request = {
  model: 'epsilon-delta-2-0-fast-260128',
  content: [{ type: 'text', text: 'A paper boat.' }],
  resolution: '480p',
  duration: 4,
};

/** Starts a Seedance task on the gateway under test. Returns its id. */
export async function startOfficialTask(change: object = {}): Promise<string> {
  const { url, key } = inject('gateway');
  const body = { ...request, ...change };
  const response = await post(url, key, '/api/v3/contents/generations/tasks', body);
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  const { id } = (await response.json()) as { id: string };
  return id;
}
