import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemTimers } from '../../server/lib/timers.ts';
import { ledgerRows, makeKey, post, remainingQuota } from '../server/ledger.ts';
import { type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { type ConfiguredGateway, channelAt, startConfigured } from './configured-gateway.ts';

const video = '/api/v1/services/aigc/video-generation/video-synthesis';
const boat = { model: 'gamma3.0-video', input: { prompt: 'A boat.' }, parameters: { duration: 5 } };
const usage = {
  video_count: 1,
  duration: 5,
  input_video_duration: 0,
  output_video_duration: 5,
  fps: 30,
  SR: '720',
};
const minute = 60_000;

let upstream: RecordingUpstream;
let target: ConfiguredGateway;
let skew = 0;
let status = 'RUNNING';
let key: string;
let tokenId: number;
let task: string;

/** Creates a task on the channel `eu`, then removes the channel. */
beforeEach(async () => {
  status = 'RUNNING';
  upstream = await startUpstream(({ method }, response) => {
    const done = { task_status: 'SUCCEEDED', video_url: 'https://files.example/boat.mp4' };
    const output = { task_id: 'theirs', task_status: 'PENDING' };
    const polled = status === 'SUCCEEDED' ? { ...output, ...done } : { ...output, task_status: status };
    const body = { request_id: 'r', output: method === 'POST' ? output : polled, usage };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  const timers = { ...systemTimers, monotonic: () => systemTimers.monotonic() + skew };
  target = await startConfigured(settings(channelAt(upstream.url)), {}, timers);
  ({ key, id: tokenId } = await makeKey(target, { quota: 1_000 }));
  const made = await post(target.url, key, video, boat);
  task = ((await made.json()) as { output: { task_id: string } }).output.task_id;
  await reload();
  upstream.seen.length = 0;
});
afterEach(async () => {
  await target.close();
  await upstream.close();
});

const settings = (...channels: object[]) => ({ prices: { '*': 10 }, channels });
const reload = async (...channels: object[]) => {
  await target.write(settings(...channels));
  await target.gateway.liveSettings.reload();
};
/** Advances time and runs what is due. */
const pass = async (ms: number) => {
  skew += ms;
  await target.gateway.tasks.runDue();
  await target.gateway.tasks.runHousekeeping();
};
const shown = async () => {
  const headers = { authorization: `Bearer ${key}` };
  const reply = await fetch(`${target.url}/api/v1/tasks/${task}`, { headers });
  return ((await reply.json()) as { output: { task_status: string } }).output.task_status;
};

test('a task of a removed channel keeps its quota, and continues when the channel is configured again', async () => {
  await pass(5 * minute);
  expect([await shown(), upstream.seen]).toEqual(['PENDING', []]);
  expect(await remainingQuota(target, tokenId)).toBe(1_000 - 5 * 10);
  status = 'SUCCEEDED';
  await reload(channelAt(upstream.url, { key: 'a-renewed-key' }));
  await pass(minute);
  expect(await shown()).toBe('SUCCEEDED');
  expect(new Set(upstream.seen.map(({ headers }) => headers.authorization))).toEqual(
    new Set(['Bearer a-renewed-key']),
  );
  expect(await remainingQuota(target, tokenId)).toBe(1_000 - 5 * 10);
  expect(await ledgerRows(target)).toMatchObject([{ state: 'settled', charged: 50 }]);
});

test('a task of a removed channel fails without a charge at its deadline', async () => {
  await pass(8 * 24 * 60 * minute);
  expect(await shown()).toBe('FAILED');
  expect(await remainingQuota(target, tokenId)).toBe(1_000);
  expect(await ledgerRows(target)).toMatchObject([{ state: 'refunded' }]);
  expect(upstream.seen).toEqual([]);
});
