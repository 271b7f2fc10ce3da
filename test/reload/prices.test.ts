import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemTimers } from '../../server/lib/timers.ts';
import { inferenceScript } from '../realtime/inference-script.ts';
import { realtimeScript } from '../realtime/realtime-script.ts';
import { ledgerRows, makeKey, post, remainingQuota } from '../server/ledger.ts';
import { connect } from '../support/socket-client.ts';
import { type Frame, type SocketUpstream, startSocketUpstream } from '../support/socket-upstream.ts';
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

let upstream: RecordingUpstream;
let sockets: SocketUpstream;
let target: ConfiguredGateway;
let skew = 0;
let isFinished = false;

beforeEach(async () => {
  isFinished = false;
  upstream = await startUpstream(({ method }, response) => {
    const finished = { task_status: 'SUCCEEDED', video_url: 'https://files.example/boat.mp4' };
    const state = method === 'GET' && isFinished ? finished : { task_status: 'RUNNING' };
    const body = { request_id: 'r', output: { task_id: 'theirs', ...state }, usage };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  sockets = await startSocketUpstream(realtimeScript());
  const timers = { ...systemTimers, monotonic: () => systemTimers.monotonic() + skew };
  target = await startConfigured(settings({ '*': 10 }), {}, timers);
});
afterEach(async () => {
  await target.close();
  await sockets.close();
  await upstream.close();
});

const settings = (prices: object) => ({
  prices,
  channels: [channelAt(upstream.url, { ws_url: sockets.url.replace('http', 'ws') })],
});
const reload = async (prices: object) => {
  await target.write(settings(prices));
  return target.gateway.liveSettings.reload();
};
const models = async () => {
  const headers = { authorization: `Bearer ${target.key}` };
  const { data } = (await (await fetch(`${target.url}/v1/models`, { headers })).json()) as {
    data: { id: string }[];
  };
  return data.map(({ id }) => id);
};

test('a model is served while it has a price', async () => {
  const { key } = await makeKey(target, { quota: 1_000 });
  const create = async () => (await post(target.url, key, video, boat)).status;
  await reload({ 'gamma3.0-vidoe': 10 });
  expect(await create()).toBe(404);
  expect(await models()).toEqual([]);
  await reload({ 'gamma3.0-video': 10 });
  expect(await create()).toBe(200);
  expect(await models()).toEqual(['gamma3.0-video']);
});

test('a task is settled at the price of its creation after that price is removed', async () => {
  const { key, id } = await makeKey(target, { quota: 1_000 });
  expect((await post(target.url, key, video, boat)).status).toBe(200);
  await reload({});
  expect((await post(target.url, key, video, boat)).status).toBe(404);
  isFinished = true;
  skew += 60_000;
  await target.gateway.tasks.runDue();
  expect(await ledgerRows(target)).toMatchObject([{ state: 'settled', charged: 50 }]);
  expect(await remainingQuota(target, id)).toBe(1_000 - 50);
});

test('an open session is settled at its price after that price is removed', async () => {
  const { key, id } = await makeKey(target, { quota: 1_000_000 });
  const client = await connect(`${target.url}/v1/realtime?model=alpha3-tts-flash-realtime`, { key });
  const send = (type: string, fields: object = {}) =>
    client.send({ event_id: randomUUID(), type, ...fields });
  send('session.update', { session: { voice: 'Aria', mode: 'commit' } });
  await client.next(({ type }) => type === 'session.updated');
  send('input_text_buffer.append', { text: 'One. ' });
  await vi.waitFor(() => expect(sockets.connections[0]?.received.length ?? 0).toBeGreaterThan(1));
  await reload({});
  send('input_text_buffer.append', { text: 'Two.' });
  send('session.finish');
  await client.next(({ type }) => type === 'session.finished');
  expect((await client.closed).code).toBe(1000);
  const [row] = await ledgerRows(target);
  expect(row?.state).toBe('settled');
  const units = (await target.gateway.store.read.selectFrom('request_log').select('units').executeTakeFirst())
    ?.units;
  expect(row?.charged).toBe(Number(units) * 10);
  expect(await remainingQuota(target, id)).toBe(1_000_000 - Number(units) * 10);
});

test('a session that begins without a price is refused at its first text', async () => {
  const { key } = await makeKey(target, { quota: 1_000_000 });
  const client = await connect(`${target.url}/v1/realtime?model=alpha3-tts-flash-realtime`, { key });
  const send = (type: string, fields: object = {}) =>
    client.send({ event_id: randomUUID(), type, ...fields });
  send('session.update', { session: { voice: 'Aria', mode: 'commit' } });
  await client.next(({ type }) => type === 'session.updated');
  await reload({});
  send('input_text_buffer.append', { text: 'One. ' });
  const { error } = await client.next(({ type }) => type === 'error');
  expect(error).toMatchObject({ code: 'access_denied', message: expect.stringContaining('does not exist.') });
  expect((await client.closed).code).toBe(1008);
  expect(await ledgerRows(target)).toEqual([]);
});

test('the next task on an open socket is refused', async () => {
  sockets.script = inferenceScript();
  const { key } = await makeKey(target, { quota: 1_000_000 });
  const client = await connect(`${target.url}/api-ws/v1/inference?model=voxa-v1`, { key });
  await reload({});
  const task_id = randomUUID();
  const parameters = { text_type: 'PlainText', voice: 'v' };
  const task = { task_group: 'audio', task: 'tts', function: 'SpeechSynthesizer', input: {}, parameters };
  client.send({ header: { action: 'run-task', task_id, streaming: 'duplex' }, payload: task });
  const failed = await client.next(({ header }) => (header as Frame).event === 'task-failed');
  const words = 'model: "voxa-v1" does not exist.';
  expect(failed.header).toMatchObject({ task_id, error_code: 'AccessDenied', error_message: words });
  expect((await client.closed).code).toBe(1008);
  expect(await ledgerRows(target)).toEqual([]);
});

test('a dry run, a reload and the log report likely mistakes in prices, with their line', async () => {
  const warnings = ['not served, because no price is set: '];
  await target.write(`prices:
  "voxa-v22": 3
  "gamma3.0-video": [{ when: { resolution: 1080x }, per: { units: 1 } }, { per: { units: 2 } }]
channels:
  - name: eu
    protocol: native
    base_url: ${upstream.url}
    models: [voxa-v2, voxa-v1, gamma3.0-video]
`);
  const expected = [
    `${target.file}:2: prices.voxa-v22: no channel serves such a model.`,
    `${target.file}:8: channels.0.models.0: ${warnings[0]}voxa-v2.`,
    `${target.file}:8: channels.0.models.1: ${warnings[0]}voxa-v1.`,
    `${target.file}:3: prices.gamma3.0-video.0.when.resolution: no request for such a model has the value 1080x.`,
  ];
  for (const query of ['?dry_run=true', '']) {
    const reply = await post(target.url, target.key, `/api/admin/reload${query}`, '');
    const { data } = (await reply.json()) as { data: { warnings: string[] } };
    expect(data.warnings).toEqual(expected);
  }
  const logged = target.log.map((line) => JSON.parse(line) as { level: number; msg: string });
  expect(logged.filter(({ msg }) => expected.includes(msg))).toHaveLength(expected.length);
});

test('a start reports models without a price', async () => {
  const other = await startConfigured({ channels: [channelAt(upstream.url, { models: ['voxa-v2'] })] });
  await other.close();
  const logged = other.log.map((line) => JSON.parse(line) as { level: string | number; msg: string });
  expect(logged.map(({ msg }) => msg)).toContainEqual(
    expect.stringMatching(/gateway\.yaml:\d+: channels\.0\.models\.0: not served, .*: voxa-v2\.$/),
  );
});

describe('a change of prices is recorded', () => {
  const recorded = async () =>
    (
      await target.gateway.store.read
        .selectFrom('changes')
        .select(['action', 'cause', 'user_id', 'token_id', 'details'])
        .where('action', '=', 'changePrices')
        .orderBy('id')
        .execute()
    ).map(({ details, ...change }) => ({ ...change, details: JSON.parse(details) as unknown }));
  const details = { prices: { '*': { from: 10, to: 20 } }, ratios: {} };

  test('by a reload on SIGHUP, without a user', async () => {
    await reload({ '*': 20 });
    await reload({ '*': 20 });
    expect(await recorded()).toMatchObject([{ cause: 'signal', user_id: 0, token_id: 0, details }]);
  });

  test('by a reload of an admin, in addition to the reload, but not by a dry run', async () => {
    await target.write(settings({ '*': 20 }));
    await post(target.url, target.key, '/api/admin/reload?dry_run=true', '');
    expect(await recorded()).toEqual([]);
    expect((await post(target.url, target.key, '/api/admin/reload', '')).status).toBe(200);
    expect(await recorded()).toMatchObject([{ cause: 'api', user_id: 1, token_id: 1, details }]);
    const headers = { authorization: `Bearer ${target.key}` };
    const reply = await fetch(`${target.url}/api/admin/changes`, { headers });
    const { data } = (await reply.json()) as { data: { items: object[] } };
    expect(data.items).toMatchObject([
      { action: 'changePrices', subject: 'prices', cause: 'api', user_id: 1, user_name: 'root', details },
      { action: 'reloadConfiguration', cause: 'api', user_id: 1 },
    ]);
  });

  test('by the next start with another file', async () => {
    const { groups } = target.gateway.settings;
    expect(groups).toEqual({ default: { models: ['*'], ratio: 1 } });
    await target.write({ ...settings({ '*': 20 }), groups: { default: { models: ['*'], ratio: 3 } } });
    await target.restart();
    await target.restart();
    expect(await recorded()).toMatchObject([
      {
        cause: 'start',
        user_id: 0,
        details: { ...details, ratios: { default: { from: 1, to: 3 } } },
      },
    ]);
    const headers = { authorization: `Bearer ${target.key}` };
    const reply = await fetch(`${target.url}/api/admin/changes?action=changePrices`, { headers });
    const { data } = (await reply.json()) as { data: { items: object[] } };
    expect(data.items).toMatchObject([{ cause: 'start', user_id: null, user_name: '', token_id: null }]);
  });

  test('and if that fails, the reload does not take effect', async () => {
    const { run } = target.gateway.store;
    target.gateway.store.run = () => Promise.reject(new Error('the store is away'));
    try {
      await expect(reload({ '*': 20 })).rejects.toThrow('the store is away');
    } finally {
      target.gateway.store.run = run;
    }
    expect(target.gateway.settings.prices).toEqual({ '*': 10 });
    expect(target.gateway.prices.terms('voxa-v2', 'default').unitPrice).toBe(10);
    expect(target.log.at(-1)).toContain('the reload could not be recorded');
  });
});
