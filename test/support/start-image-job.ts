import { inject, vi } from 'vitest';
import type { components } from '../../generated/http.ts';
import { post } from '../server/ledger.ts';

type ImageJob = components['schemas']['ImageJob'];

/** Submits a job to the gateway under test. Returns its id. */
async function submit(call: 'imagine' | 'action', body: object): Promise<string> {
  const { url, key } = inject('gateway');
  const response = await post(url, key, `/imgjob/submit/${call}`, body);
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return ((await response.json()) as { result: string }).result;
}

/** Starts an image job on the gateway under test. Returns its id. */
export function startImageJob(change: object = {}): Promise<string> {
  return submit('imagine', { prompt: 'a harbor', ...change });
}

/** Waits for the end of a job. */
export async function imageJobEnded(id: string): Promise<ImageJob> {
  const { url, key } = inject('gateway');
  return vi.waitFor(
    async () => {
      const headers = { authorization: `Bearer ${key}` };
      const job = (await (await fetch(`${url}/imgjob/task/${id}/fetch`, { headers })).json()) as ImageJob;
      if (job.status !== 'SUCCESS' && job.status !== 'FAILURE') throw new Error(`the job is ${job.status}`);
      return job;
    },
    { timeout: 30_000, interval: 100 },
  );
}

/** Returns the `customId` of a button that starts with `prefix`. */
export function buttonOf({ buttons }: ImageJob, prefix: string): string {
  const button = buttons.find(({ customId }) => customId.startsWith(prefix));
  if (button === undefined) throw new Error(`there is no button ${prefix}`);
  return button.customId;
}

/** Creates a single image on the gateway under test, with its buttons. */
export async function finishedImage(): Promise<ImageJob> {
  const grid = await imageJobEnded(await startImageJob());
  return imageJobEnded(
    await submit('action', { taskId: grid.id, customId: buttonOf(grid, 'IJ::JOB::upsample::1') }),
  );
}

/** Starts inpainting of a completed image. Returns the id of the job, which waits for the modal call. */
export function openInpainting(image: ImageJob): Promise<string> {
  return submit('action', { taskId: image.id, customId: buttonOf(image, 'IJ::Inpaint::') });
}
