import { inject, vi } from 'vitest';
import type { components } from '../../generated/http.ts';
import { post } from '../server/ledger.ts';

type ImageJob = components['schemas']['ImageJob'];

/** Submits to the gateway under test and gives the id of the job. */
async function submit(call: 'imagine' | 'action', body: object): Promise<string> {
  const { url, key } = inject('gateway');
  const response = await post(url, key, `/imgjob/submit/${call}`, body);
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return ((await response.json()) as { result: string }).result;
}

/** Starts an image job on the gateway under test and gives its id. */
export function startImageJob(change: object = {}): Promise<string> {
  return submit('imagine', { prompt: 'a harbour', ...change });
}

/** Resolves when the job has ended. */
export async function imageJobEnded(id: string): Promise<ImageJob> {
  const { url, key } = inject('gateway');
  return vi.waitFor(
    async () => {
      const headers = { authorization: `Bearer ${key}` };
      const job = (await (await fetch(`${url}/imgjob/task/${id}/fetch`, { headers })).json()) as ImageJob;
      if (job.status !== 'SUCCESS' && job.status !== 'FAILURE') throw new Error(`it is ${job.status}`);
      return job;
    },
    { timeout: 30_000, interval: 100 },
  );
}

/** The `customId` of a job's button, by what it begins with. */
export function buttonOf({ buttons }: ImageJob, beginning: string): string {
  const button = buttons.find(({ customId }) => customId.startsWith(beginning));
  if (button === undefined) throw new Error(`there is no button ${beginning}`);
  return button.customId;
}

/** A finished picture of the gateway under test, with the buttons that a single picture has. */
export async function finishedPicture(): Promise<ImageJob> {
  const grid = await imageJobEnded(await startImageJob());
  return imageJobEnded(
    await submit('action', { taskId: grid.id, customId: buttonOf(grid, 'IJ::JOB::upsample::1') }),
  );
}

/** Opens inpainting on a finished picture and gives the id of the job that waits. */
export function openInpainting(picture: ImageJob): Promise<string> {
  return submit('action', { taskId: picture.id, customId: buttonOf(picture, 'IJ::Inpaint::') });
}
