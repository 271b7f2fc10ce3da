import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { readSettings } from '../../server/settings/settings.ts';
import { generateKey, hashKey, keyHint } from '../../server/store/keys.ts';
import { documentedOperations } from '../conformance/contract/documented.ts';
import { exchange } from '../support/exchange.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { type Mock, startMock } from './server.ts';
import { append, eventOf, update } from './sockets/client-events.ts';

interface Keys {
  /** Key of an admin. */
  own: string;
  /** Key of another user without quota. */
  noQuota: string;
  /** A key that does not exist. */
  unknown: string;
}
/** The mock or a gateway. */
interface Target {
  url: string;
  keys: Keys;
  /** Restarts the server, or starts another one with a limit of one request per minute. */
  restarted: () => Promise<Target>;
  limited: () => Promise<Target>;
}
interface Probe {
  /** Returns the behavior of the target as a comparable value. */
  observe: (target: Target) => Promise<unknown>;
  mock: unknown;
  gateway: unknown;
}

const cleanups: (() => Promise<unknown>)[] = [];
let gateway: TestGateway;
let mock: Mock;
const targets: { mock?: Target; gateway?: Target } = {};

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'unigate-differences-'));
  const change = { dataDir, callbacks: { allowPrivate: true, secret: undefined } };
  [gateway, mock] = await Promise.all([startTestGateway(change), startMock({ taskMs: 1, paceMs: 0 })]);
  const { store, clock } = gateway.gateway;
  const noQuota = generateKey();
  const now = clock();
  const { id: userId } = await store.run('createUser', { name: 'other', group: 'default', now });
  await store.run('createToken', {
    userId,
    name: 'other',
    keyHash: hashKey(noQuota),
    keyHint: keyHint(noQuota),
    now,
  });
  const keys = { own: gateway.key, noQuota, unknown: 'sk-wrong' };
  const gatewayAt = (url: string, own = gateway.key): Target => ({
    url,
    keys: { ...keys, own },
    async restarted() {
      await gateway.close();
      gateway = await startTestGateway(change);
      return gatewayAt(gateway.url, keys.own);
    },
    async limited() {
      const limits = { ...readSettings({}).limits, requestsPerMinute: 1 };
      const other = await startTestGateway({ limits });
      cleanups.push(() => other.close());
      return gatewayAt(other.url, other.key);
    },
  });
  const mockAt = (url: string): Target => ({
    url,
    keys,
    async restarted() {
      await mock.close();
      mock = await startMock({ taskMs: 1 });
      return mockAt(mock.url);
    },
    limited: () => Promise.resolve(mockAt(url)),
  });
  targets.gateway = gatewayAt(gateway.url);
  targets.mock = mockAt(mock.url);
  cleanups.push(
    () => gateway.close(),
    () => mock.close(),
    () => rm(dataDir, { recursive: true, force: true }),
  );
}, 60_000);
afterAll(async () => {
  for (const close of cleanups) await close();
});

type CallOptions = { key?: string; headers?: Record<string, string>; method?: string };

function call(
  { url, keys }: Target,
  path: string,
  body?: unknown,
  { key = keys.own, headers = {}, method }: CallOptions = {},
) {
  return fetch(url + path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}
const status = async (...args: Parameters<typeof call>) => (await call(...args)).status;
const succeed = async (...args: Parameters<typeof call>) => {
  const reply = await call(...args);
  if (!reply.ok) throw new Error(`${args[1]}: ${reply.status} ${await reply.text()}`);
  return reply;
};
const json = async <T>(...args: Parameters<typeof call>) => (await (await succeed(...args)).json()) as T;
const bytes = async (...args: Parameters<typeof call>) =>
  Buffer.from(await (await succeed(...args)).arrayBuffer()).toString('base64');

const speech = { model: 'alpha3-tts-flash', voice: 'Aria', input: 'Hello.' };
const long = 'Good morning to everybody who is listening to this rather long sentence.';
const video = { model: 'gamma3.0-video-prime', prompt: 'A boat.', seconds: '2', size: '480P' };
const createVideo = (target: Target, options: CallOptions = {}, body = video) =>
  json<{ id: string }>(target, '/v1/videos', body, options);

async function videoContent(target: Target, prompt: string): Promise<string> {
  const { id } = await createVideo(target, {}, { ...video, prompt });
  const getTask = () => json<{ status: string }>(target, `/v1/videos/${id}`);
  await vi.waitFor(async () => expect((await getTask()).status).toBe('completed'), {
    timeout: 30_000,
    interval: 50,
  });
  return bytes(target, `/v1/videos/${id}/content`);
}

/** Creates a voice and returns its id and its preview. */
async function designVoice(target: Target, preview_text: string) {
  const voice = { target_model: 'voxa-v3.5-flash', prefix: 'calm', voice_prompt: 'Calm.', preview_text };
  const { output } = await json<{ output: { voice_id: string; preview_audio: { data: string } } }>(
    target,
    '/api/v1/services/audio/tts/customization',
    { model: 'voice-enrollment', input: { action: 'create_voice', ...voice } },
  );
  return output;
}
const voicePreview = async (target: Target, text: string) =>
  (await designVoice(target, text)).preview_audio.data;

/** Returns the length of the audio that a socket returns for a text. */
async function socketAudioLength({ url, keys }: Target, text: string): Promise<number> {
  const socket = new WebSocket(`${url}/v1/realtime?model=alpha3-tts-flash-realtime`, {
    headers: { authorization: `Bearer ${keys.own}` },
  });
  let length = 0;
  const send = (event: object) => socket.send(JSON.stringify(event));
  socket.on('message', (data: Buffer) => {
    const event = JSON.parse(data.toString()) as { type: string; delta?: string };
    if (event.type === 'session.created') send(update({ voice: 'Aria' }));
    if (event.type === 'session.updated') {
      send(append(text));
      send(eventOf('session.finish'));
    }
    if (event.type === 'response.audio.delta') length += event.delta?.length ?? 0;
  });
  await once(socket, 'close');
  return length;
}

/** Probes by the first column of the table in the guide. */
const probes: Readonly<Record<string, Probe>> = {
  Keys: {
    observe: (target) => status(target, '/v1/models', undefined, { key: target.keys.unknown }),
    mock: 200,
    gateway: 401,
  },
  Roles: {
    observe: (target) => status(target, '/api/admin/channels', undefined, { key: target.keys.noQuota }),
    mock: 200,
    gateway: 403,
  },
  Quota: {
    observe: (target) => status(target, '/v1/audio/speech', speech, { key: target.keys.noQuota }),
    mock: 200,
    gateway: 403,
  },
  'Sub-accounts': {
    observe: (target) => status(target, '/api/me/accounts', { name: 'Paris office' }),
    mock: 200,
    gateway: 403,
  },
  'Rate limits': {
    observe: async (target) => {
      const limited = await target.limited();
      return [await status(limited, '/v1/models'), await status(limited, '/v1/models')];
    },
    mock: [200, 200],
    gateway: [200, 429],
  },
  Models: {
    observe: async (target) => {
      const { voice_id } = await designVoice(target, 'Yes.');
      return JSON.stringify(await json(target, '/v1/models')).includes(voice_id);
    },
    mock: false,
    gateway: true,
  },
  Voices: {
    observe: (target) => status(target, '/v1/audio/speech', { ...speech, voice: 'none-such' }),
    mock: 200,
    gateway: 400,
  },
  References: {
    observe: (target) =>
      status(target, '/v1/videos', {
        model: 'epsilon-delta-2-5-260628',
        prompt: 'A boat.',
        image: 'asset://asset-20260301120000-k3v9q',
      }),
    mock: 200,
    gateway: 400,
  },
  'Provider rules': {
    observe: (target) =>
      status(target, '/sigma/submit/music', { mv: 'chirp-hawk', prompt: 'The sea.', task: 'none-such' }),
    mock: 200,
    gateway: 400,
  },
  'Example ids': {
    observe: (target) => status(target, '/v1/videos/task_0a1b2c3d4e5f60718293a4b5c6d7e8f9'),
    mock: 200,
    gateway: 404,
  },
  Owners: {
    observe: async (target) => {
      const { id } = await createVideo(target);
      return status(target, `/v1/videos/${id}`, undefined, { key: target.keys.noQuota });
    },
    mock: 200,
    gateway: 404,
  },
  'Request log': {
    observe: async (target) => {
      const reply = await call(target, '/v1/audio/speech', speech);
      await reply.arrayBuffer();
      const id = reply.headers.get('x-request-id') ?? '';
      return JSON.stringify(await json(target, `/api/log/search?request_id=${id}`)).includes(id);
    },
    mock: false,
    gateway: true,
  },
  Speech: {
    observe: async (target) =>
      (await bytes(target, '/v1/audio/speech', speech)) ===
      (await bytes(target, '/v1/audio/speech', { ...speech, input: long })),
    mock: true,
    gateway: false,
  },
  'Voice previews': {
    observe: async (target) => (await voicePreview(target, 'Yes.')) === (await voicePreview(target, long)),
    mock: true,
    gateway: false,
  },
  Sockets: {
    observe: async (target) =>
      (await socketAudioLength(target, 'Yes.')) === (await socketAudioLength(target, long)),
    mock: true,
    gateway: false,
  },
  'Task files': {
    observe: async (target) =>
      (await videoContent(target, 'A red boat.')) ===
      (await videoContent(target, 'A green car in the rain.')),
    mock: true,
    gateway: false,
  },
  Restarts: {
    observe: async (target) => {
      const { id } = await createVideo(target);
      return status(await target.restarted(), `/v1/videos/${id}`);
    },
    mock: 404,
    gateway: 200,
  },
  'Mock headers': {
    observe: async (target) => {
      const send = (headers: Record<string, string>) => status(target, '/v1/models', undefined, { headers });
      return [await send({ prefer: 'code=429' }), await send({ 'x-mock-status': '503' })];
    },
    mock: [429, 503],
    gateway: [200, 200],
  },
};

const guide = await readFile(new URL('../../openapi/guides/24-mock-server.md', import.meta.url), 'utf8');
const table = guide.slice(guide.indexOf('## Differences from a gateway'));
const rows = [...table.matchAll(/^\| ([A-Z][^|]*?) \|/gm)].map(([, name = '']) => name);

test('the guide lists exactly the known differences', () => {
  expect(rows).toEqual(Object.keys(probes));
});

describe('the mock and the gateway differ as documented in', () => {
  // A restart affects the other probes, so it comes last.
  const ordered = rows.toSorted((one, two) => Number(one === 'Restarts') - Number(two === 'Restarts'));
  test.each(ordered)('%s', { timeout: 90_000 }, async (name) => {
    const probe = probes[name];
    if (probe === undefined || targets.mock === undefined || targets.gateway === undefined)
      throw new Error(`no probe for ${name}`);
    const [onMock, onGateway] = [await probe.observe(targets.mock), await probe.observe(targets.gateway)];
    expect({ mock: onMock, gateway: onGateway }).toEqual({ mock: probe.mock, gateway: probe.gateway });
    expect(onMock).not.toEqual(onGateway);
  });
});

/** Documented requests whose references cannot be resolved: row References. */
const rejectsReferences: ReadonlySet<string> = new Set(['customizeVoice', 'createOfficialVideo']);
/** Operations that report an unknown task as a state of its own: row Example ids. */
const unknownTasks: ReadonlySet<string> = new Set(['getNativeTask']);

test('no documented request shows an undocumented difference', { timeout: 180_000 }, async () => {
  const other = await startTestGateway();
  cleanups.push(() => other.close());
  const undocumented: string[] = [];
  for (const operation of documentedOperations.values()) {
    if (operation.aliasOf !== undefined) continue;
    const [onGateway, onMock] = await Promise.all([
      exchange({ url: other.url, key: other.key }, operation),
      exchange({ url: mock.url, key: 'sk-any' }, operation),
    ]);
    const type = (reply: typeof onMock) => reply.headers.get('content-type')?.split(';')[0];
    if (onGateway.status === onMock.status && type(onGateway) === type(onMock)) continue;
    const isDocumented = [
      onGateway.status === 404,
      rejectsReferences.has(operation.id) && onGateway.status === 400,
      // Row Sub-accounts.
      operation.id === 'createMyAccount' && onGateway.status === 403,
    ];
    if (!isDocumented.includes(true) && !unknownTasks.has(operation.id))
      undocumented.push(
        `${operation.id}: ${onMock.status} ${type(onMock)}, gateway ${onGateway.status} ${type(onGateway)}`,
      );
  }
  expect(undocumented).toEqual([]);
});
