import { describe, expect, test } from 'vitest';
import type { ImageJob } from '../../client/index.ts';
import { UnigateError } from '../../client/index.ts';
import { json, stubClient } from './stub-fetch.ts';

const buttons = [
  { customId: 'IJ::JOB::upsample::1::9f', label: 'U1', emoji: '' },
  { customId: 'IJ::JOB::reroll::0::9f::SOLO', label: '', emoji: '🔄' },
  { customId: 'IJ::Inpaint::1::9f::SOLO', label: 'Vary (Region)', emoji: '🖌️' },
];
const job = { id: 'job_1', status: 'SUCCESS', buttons } as ImageJob;
const taken = (code: number, result: string) => json({ code, description: '', result, properties: {} });
const mask = 'data:image/png;base64,iVBORw0KGgo=';

describe('a button', () => {
  test.each([
    ['U1', 0],
    ['u1', 0],
    ['🔄', 1],
    ['vary (region)', 2],
  ])('%s is found by its label or emoji', async (label, index) => {
    const { client, fetch, bodies } = stubClient([taken(1, 'job_2')]);
    const response = await client.imageJobs.press(job, label, { state: 'order 7', idempotencyKey: 'mine' });
    expect(client.imageJobs.idOf(response)).toBe('job_2');
    expect(bodies.map((body) => JSON.parse(body) as unknown)).toEqual([
      { taskId: 'job_1', customId: buttons[index]?.customId, state: 'order 7' },
    ]);
    const [request] = fetch.mock.calls[0] ?? [];
    expect(request?.url).toBe('http://gateway.example/imgjob/submit/action');
    expect(request?.headers.get('idempotency-key')).toBe('mine');
  });

  test('that opens modal input receives mask and prompt there', async () => {
    const { client, fetch, bodies } = stubClient([taken(21, 'job_2'), taken(1, 'job_2')]);
    const options = { prompt: 'a lighthouse', maskBase64: mask, notifyHook: 'https://app.example/hook' };
    expect(await client.imageJobs.press(job, 'Vary (Region)', options)).toMatchObject({
      code: 1,
      result: 'job_2',
    });
    expect(fetch.mock.calls[1]?.[0].url).toBe('http://gateway.example/imgjob/submit/modal');
    expect(JSON.parse(bodies[1] ?? '')).toEqual({ taskId: 'job_2', ...options });
  });

  test('that opens modal input waits there without mask and prompt', async () => {
    const { client, fetch } = stubClient([taken(21, 'job_2')]);
    expect(await client.imageJobs.press(job, 'Vary (Region)')).toMatchObject({ code: 21, result: 'job_2' });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  test('that needs no modal input gets none', async () => {
    const { client, fetch } = stubClient([taken(22, 'job_2')]);
    expect(await client.imageJobs.press(job, 'U1', { prompt: 'more' })).toMatchObject({ code: 22 });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  test('that does not exist is reported with the existing ones', async () => {
    const { client, fetch } = stubClient([]);
    await expect(client.imageJobs.press(job, 'U5')).rejects.toThrow(
      new UnigateError('job_1 has no button U5; it has U1, 🔄, Vary (Region).'),
    );
    await expect(client.imageJobs.press({ ...job, buttons: [] }, 'U1')).rejects.toThrow('it has none.');
    expect(fetch).not.toHaveBeenCalled();
  });
});

test('does not retry modal input, because a retry would be rejected', async () => {
  const { client, fetch } = stubClient([json({}, 503)]);
  await expect(client.imageJobs.modal({ taskId: 'job_2', prompt: 'p' })).rejects.toMatchObject({
    status: 503,
  });
  expect(fetch).toHaveBeenCalledTimes(1);
});

test('several jobs are retrieved in one request', async () => {
  const { client, bodies } = stubClient([json([job])]);
  expect(await client.imageJobs.retrieveMany(['job_1', 'job_2'])).toEqual([job]);
  expect(bodies).toEqual([JSON.stringify({ ids: ['job_1', 'job_2'] })]);
});
