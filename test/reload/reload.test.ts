import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { SettingsError } from '../../server/settings/settings-error.ts';
import { inferenceScript } from '../realtime/inference-script.ts';
import { realtimeScript } from '../realtime/realtime-script.ts';
import { ledgerRows, makeKey, post, remainingQuota } from '../server/ledger.ts';
import { connect } from '../support/socket-client.ts';
import { type Frame, type SocketUpstream, startSocketUpstream } from '../support/socket-upstream.ts';
import { type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { type ConfiguredGateway, channelAt, startConfigured } from './configured-gateway.ts';

const path = '/api/v1/services/audio/tts/SpeechSynthesizer';
const speech = { model: 'voxa-v3-flash', input: { text: 'Ten chars.', voice: 'v1' } };
const output = {
  finish_reason: 'stop',
  audio: { data: '', url: 'https://files.example/a.mp3', id: 'a', expires_at: 1 },
};
const speechBody = JSON.stringify({ request_id: 'r', output, usage: { characters: 10 } });
const event = (id: number, used?: number) => {
  const data = { output: { finish_reason: used === undefined ? 'null' : 'stop', audio: { data: 'AAAA' } } };
  const usage = used === undefined ? {} : { usage: { characters: used } };
  return `id:${id}\nevent:result\n:HTTP_STATUS/200\ndata:${JSON.stringify({ ...data, ...usage })}\n\n`;
};

let upstream: RecordingUpstream;
let sockets: SocketUpstream;
let target: ConfiguredGateway;
/** Functions that send the delayed responses. */
let waiting: (() => void)[] = [];
let isHeld = false;

const eu = (change: object = {}) =>
  channelAt(upstream.url, { ws_url: sockets.url.replace('http', 'ws'), ...change });
const settings = (...channels: object[]) => ({ prices: { '*': 2 }, channels });
const reload = async (configuration: object | string) => {
  await target.write(configuration);
  return target.gateway.liveSettings.reload();
};
const keysSeen = () => new Set(upstream.seen.map(({ headers }) => headers.authorization));

beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    const end = () => {
      if (request.headers['x-native-sse'] !== undefined) response.end(event(2, 10));
      else response.writeHead(200, { 'content-type': 'application/json' }).end(speechBody);
    };
    if (request.headers['x-native-sse'] !== undefined) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event(1));
      waiting.push(end);
    } else if (isHeld) waiting.push(end);
    else end();
  });
  sockets = await startSocketUpstream(realtimeScript());
  target = await startConfigured(settings(eu()));
});
beforeEach(async () => {
  await reload(settings(eu()));
  upstream.seen.length = 0;
  waiting = [];
  isHeld = false;
});
afterAll(async () => {
  await target.close();
  await sockets.close();
  await upstream.close();
});

test('reloads interrupt no requests, streams or sockets', async () => {
  const { key } = await makeKey(target, { quota: 1_000_000 });
  const stream = await post(target.url, key, path, speech, { headers: { 'x-native-sse': 'enable' } });
  const reader = stream.body?.getReader();
  await reader?.read();
  const client = await connect(`${target.url}/v1/realtime?model=alpha3-tts-flash-realtime`, { key });
  client.send({ event_id: 'a', type: 'session.update', session: { voice: 'Aria', mode: 'commit' } });
  await client.next(({ type }) => type === 'session.updated');
  client.send({ event_id: 'b', type: 'input_text_buffer.append', text: 'One. ' });

  const statuses: number[] = [];
  let isSending = true;
  const send = async () => {
    while (isSending) {
      const reply = await post(target.url, key, path, speech);
      statuses.push(reply.status);
      await reply.text();
    }
  };
  const senders = [send(), send(), send(), send()];
  for (let round = 0; round < 8; round += 1) {
    const key = `${round % 2 === 0 ? 'upstream' : 'us'}-key-${round}`;
    await reload(settings(round % 2 === 0 ? eu({ key }) : eu({ name: 'us', key })));
    // On a slow machine, earlier responses can still come from the previous configuration.
    await vi.waitFor(() => expect(keysSeen()).toContain(`Bearer ${key}`), { timeout: 10_000 });
    const from = statuses.length;
    await vi.waitFor(() => expect(statuses.length).toBeGreaterThan(from + 8), { timeout: 10_000 });
  }
  isSending = false;
  await Promise.all(senders);
  expect(new Set(statuses)).toEqual(new Set([200]));
  // Every configuration was in use.
  expect(keysSeen().size).toBe(9);

  // The session stays on its first channel, which has been removed.
  client.send({ event_id: 'c', type: 'session.update', session: { voice: 'Aria', mode: 'commit' } });
  await client.next(({ type }) => type === 'session.updated');
  client.send({ event_id: 'd', type: 'input_text_buffer.append', text: 'Two.' });
  client.send({ event_id: 'e', type: 'session.finish' });
  await client.next(({ type }) => type === 'session.finished');
  expect((await client.closed).code).toBe(1000);
  expect(sockets.connections).toHaveLength(1);

  for (const respond of waiting) respond();
  const rest: Buffer[] = [];
  for (let chunk = await reader?.read(); chunk?.value; chunk = await reader?.read())
    rest.push(Buffer.from(chunk.value));
  expect(Buffer.concat(rest).toString()).toContain('"characters":10');
  const rows = await ledgerRows(target);
  expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['settled']));
}, 60_000);

test('a task on a socket ends on its first channel, and the next one uses the new channel', async () => {
  const { key } = await makeKey(target, { quota: 1_000 });
  sockets.script = inferenceScript();
  sockets.connections.length = 0;
  const client = await connect(`${target.url}/api-ws/v1/inference?model=voxa-v1`, { key });
  const named = (name: string) => client.next(({ header }) => (header as Frame).event === name);
  const send = (action: string, id: string, payload: object) =>
    client.send({ header: { action, task_id: id, streaming: 'duplex' }, payload });
  const parameters = { text_type: 'PlainText', voice: 'v' };
  const task = { task_group: 'audio', task: 'tts', function: 'SpeechSynthesizer', input: {}, parameters };
  for (const id of [randomUUID(), randomUUID()]) {
    send('run-task', id, task);
    await named('task-started');
    await reload(settings(eu({ key: `key-of-${id}` })));
    // It names the voice again, which belongs to the replaced channel.
    send('continue-task', id, { input: { text: 'One.' }, parameters });
    send('finish-task', id, { input: {} });
    await named('task-finished');
  }
  expect(sockets.connections).toHaveLength(2);
  expect(sockets.connections[1]?.headers.authorization).toMatch(/^Bearer key-of-/);
  client.socket.terminate();
  await client.closed;
});

test('a call keeps its price, and the next one has the new price', async () => {
  const { key, id } = await makeKey(target, { quota: 1_000 });
  isHeld = true;
  const running = post(target.url, key, path, speech);
  await vi.waitFor(() => expect(waiting).toHaveLength(1));
  await reload({ ...settings(eu()), prices: { '*': 30 }, groups: { default: { models: ['*'], ratio: 2 } } });
  for (const respond of waiting) respond();
  expect((await running).status).toBe(200);
  expect(await remainingQuota(target, id)).toBe(1_000 - 10 * 2);
  isHeld = false;
  expect((await post(target.url, key, path, speech)).status).toBe(200);
  expect(await remainingQuota(target, id)).toBe(1_000 - 10 * 2 - 10 * 60);
});

test('models, groups and limits apply to the next request', async () => {
  const { key } = await makeKey(target, { quota: 1_000 });
  const status = async () => (await post(target.url, key, path, speech)).status;
  await reload({ ...settings(eu()), groups: { default: { models: ['alpha3-*'] } } });
  expect(await status()).toBe(403);
  await reload(settings(eu({ models: ['alpha3-*'] })));
  expect(await status()).toBe(503);
  await reload({ ...settings(eu()), limits: { body_mb: 0.00001 } });
  expect(await status()).toBe(413);
  await reload({ ...settings(eu()), limits: { requests_per_minute: 1 } });
  expect([await status(), await status()]).toEqual([200, 429]);
  await reload(settings(eu()));
  expect(await status()).toBe(200);
});

test('the changes use the names of the file', async () => {
  const asia = eu({ name: 'asia' });
  await reload({
    ...settings(eu(), eu({ name: 'us' }), asia),
    groups: { default: { models: ['*'] }, old: { models: [] } },
  });
  const changes = await reload({
    ...settings(eu({ weight: 5 }), asia, eu({ name: 'africa' })),
    prices: { '*': 2, 'voxa-*': 7 },
    groups: { default: { models: ['*'], ratio: 3 }, new: { models: ['voxa-*'] } },
    callbacks: { secret: 'whsec_c2VjcmV0c2VjcmV0' },
    trusted_proxies: ['10.0.0.0/8'],
    limits: { speech_seconds: 5 },
    books: { keep_days: 3 },
  });
  expect(changes).toEqual({
    channels: { added: ['africa'], changed: ['eu'], removed: ['us'], unchanged: ['asia'] },
    groups: { added: ['new'], changed: ['default'], removed: ['old'], unchanged: [] },
    prices: { added: ['voxa-*'], changed: [], removed: [], unchanged: ['*'] },
    settings: ['callbacks.secret', 'limits.speech_seconds', 'books.keep_days', 'trusted_proxies'],
    needsRestart: [],
    revision: target.gateway.settings.revision,
    warnings: [],
  });
});

test('a reload changes the revision, and a reload of the former file restores it', async () => {
  const { revision } = await reload(settings(eu()));
  const other = await reload({ ...settings(eu()), prices: { '*': 3 } });
  expect(other.revision).not.toBe(revision);
  expect(target.gateway.settings.revision).toBe(other.revision);
  expect((await reload(settings(eu()))).revision).toBe(revision);
});

test('settings that need a restart are reported by each reload and not applied', async () => {
  const other = { ...settings(eu()), database: { connections: 3 }, sandbox: { task_seconds: 1 } };
  const expected = ['database', 'sandbox', 'sandbox.task_seconds'];
  expect((await reload(other)).needsRestart).toEqual(expected);
  expect((await reload(other)).needsRestart).toEqual(expected);
  expect(target.gateway.settings).toMatchObject({ sandbox: false, database: { connections: 10 } });
  expect(target.log.at(-1)).toContain('"needsRestart":["database","sandbox","sandbox.task_seconds"]');
  expect((await reload(settings(eu()))).needsRestart).toEqual([]);
});

describe('an invalid file changes nothing', () => {
  test.each([
    ['broken YAML', 'channels: []\nprices: {]\n', ':2: '],
    ['an unknown setting', 'prices:\n  "*": 1\nchanels: []\n', ':3: chanels is not a known setting.'],
    [
      'a missing key file',
      'channels:\n  - name: eu\n    protocol: native\n    base_url: http://a\n    key_file: /none\n    models: [a]\n',
      ':5: cannot read /none (ENOENT).',
    ],
  ])('%s', async (_name, text, message) => {
    const before = target.gateway.settings;
    const channel = target.gateway.channels.named('eu');
    const failed = await reload(text).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failed).toBeInstanceOf(SettingsError);
    expect((failed as Error).message).toContain(target.file + message);
    expect(target.gateway.settings).toBe(before);
    expect(target.gateway.channels.named('eu')).toBe(channel);
    expect(target.log.at(-1)).toContain(target.file + message);
  });

  test('a file whose reload cannot be recorded changes nothing', async () => {
    await target.write(settings());
    const reloading = target.gateway.liveSettings.reload(() =>
      Promise.reject(new Error('the store is unavailable')),
    );
    await expect(reloading).rejects.toThrow('the store is unavailable');
    expect(target.gateway.channels.names).toEqual(['eu']);
  });
});

describe('the operation', () => {
  const requestReload = async (key: string, query = '') => {
    const reply = await post(target.url, key, `/api/admin/reload${query}`, '');
    return {
      status: reply.status,
      body: (await reply.json()) as { message: string; data: Record<string, unknown> },
    };
  };
  const lastChange = () =>
    target.gateway.store.read.selectFrom('changes').selectAll().orderBy('id', 'desc').executeTakeFirst();

  test('returns the changes, and records them without the unchanged names', async () => {
    await target.write({ ...settings(eu(), eu({ name: 'us' })), sandbox: true });
    const dry = await requestReload(target.key, '?dry_run=true');
    expect(dry.body.data).toMatchObject({ applied: false, channels: { added: ['us'], unchanged: ['eu'] } });
    expect(target.gateway.channels.names).toEqual(['eu']);
    const { status, body } = await requestReload(target.key);
    expect([status, body.data]).toEqual([200, { ...dry.body.data, applied: true, file: target.file }]);
    expect(body.data).toMatchObject({ needs_restart: ['sandbox'] });
    expect(target.gateway.channels.names).toEqual(['eu', 'us']);
    // Changes are relative to the current settings, restarts to those at the start.
    const after = await requestReload(target.key, '?dry_run=true');
    expect(after.body.data).toMatchObject({
      applied: false,
      channels: { added: [], changed: [], removed: [], unchanged: ['eu', 'us'] },
      needs_restart: ['sandbox'],
    });
    const change = await lastChange();
    expect(change).toMatchObject({ action: 'reloadConfiguration', subject: 'configuration', user_id: 1 });
    expect(JSON.parse(change?.details ?? '')).toMatchObject({
      channels: { added: ['us'], changed: [], removed: [] },
      needs_restart: ['sandbox'],
    });
  });

  test('refuses an invalid file with its lines, and records nothing', async () => {
    const before = await lastChange();
    await target.write('channels: []\nprizes: {}\ngroup: {}\n');
    for (const query of ['', '?dry_run=true']) {
      const { status, body } = await requestReload(target.key, query);
      const lines = [
        `${target.file}:2: prizes is not a known setting.`,
        `${target.file}:3: group is not a known setting.`,
      ];
      expect([status, body]).toEqual([400, { success: false, message: lines.join('\n') }]);
    }
    expect(await lastChange()).toEqual(before);
    expect(target.gateway.channels.names).toEqual(['eu']);
  });

  test('requires admin access', async () => {
    await target.write(settings());
    const { userId } = await target.gateway.store
      .run('createUser', { name: 'someone', group: 'default', now: 1 })
      .then(({ id }) => ({ userId: id }));
    const { key } = await makeKey(target, { quota: 10, userId });
    expect((await requestReload(key)).status).toBe(403);
    expect(target.gateway.channels.names).toEqual(['eu']);
  });
});

test('concurrent reloads run one after the other', async () => {
  const recorded: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  await target.write(settings(eu({ name: 'one' })));
  const first = target.gateway.liveSettings.reload(async () => {
    recorded.push('first');
    await promise;
  });
  await vi.waitFor(() => expect(recorded).toEqual(['first']));
  await target.write(settings(eu({ name: 'two' })));
  const second = target.gateway.liveSettings.reload(async () => void recorded.push('second'));
  expect(target.gateway.channels.names).toEqual(['eu']);
  resolve();
  expect((await first).channels).toMatchObject({ added: ['one'], removed: ['eu'] });
  expect((await second).channels).toMatchObject({ added: ['two'], removed: ['one'] });
  expect(target.gateway.channels.names).toEqual(['two']);
});

test('a reload reads a key file again, and no log shows the new key', async () => {
  const keyFile = join(target.folder, 'key');
  await writeFile(keyFile, 'first-key-of-the-file\n');
  const { key: _key, ...keyless } = eu() as { key: string };
  const channels = settings({ ...keyless, key_file: keyFile });
  await reload(channels);
  await writeFile(keyFile, 'second-key-of-the-file\n');
  expect((await reload(channels)).channels.changed).toEqual(['eu']);
  await post(target.url, target.key, path, speech);
  expect(keysSeen()).toEqual(new Set(['Bearer second-key-of-the-file']));
  target.gateway.logger.warn({ seen: 'second-key-of-the-file, first-key-of-the-file' }, 'shown');
  expect(target.log.at(-1)).toContain('***, ***');
  expect(target.log.join('')).not.toMatch(/(first|second)-key-of-the-file/);
});
