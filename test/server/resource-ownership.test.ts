import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type OperationFacts, operations } from '../../generated/operations.ts';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream } from '../support/upstream.ts';
import { createOtherUserKey } from '../video/asset-provider.ts';
import { makeKey, setKeyLimited } from './ledger.ts';
import { completionMarker, startMultiProtocolUpstream } from './multi-protocol-upstream.ts';

const native = '/api/v1/services/aigc/video-generation';
const official = '/api/v3/contents/generations/tasks';
const customization = '/api/v1/services/audio/tts/customization';
const seedance = 'epsilon-delta-2-5-260628';
const states = ['open', 'final'] as const;

type Request = readonly [method: string, path: string, body?: object];

/** Creates a task of each kind. The prompt decides whether it completes. */
const tasks: Readonly<Record<string, (prompt: string) => Request>> = {
  'generic gamma': (prompt) => ['POST', '/v1/video/generations', { model: 'gamma3.0-video', prompt }],
  'generic seedance': (prompt) => ['POST', '/v1/video/generations', { model: seedance, prompt }],
  'videos gamma': (prompt) => ['POST', '/v1/videos', { model: 'gamma3.0-video', prompt }],
  'videos eta': (prompt) => ['POST', '/v1/videos', { model: 'eta-imagine-video', prompt }],
  'native video': (prompt) => [
    'POST',
    `${native}/video-synthesis`,
    { model: 'gamma3.0-video', input: { prompt } },
  ],
  '3D object': (prompt) => ['POST', `${native}/3d-generation`, { model: 'theta-3d', input: { prompt } }],
  music: (prompt) => ['POST', '/sigma/submit/music', { prompt }],
  lyrics: (prompt) => ['POST', '/sigma/submit/lyrics', { prompt }],
  'image job': (prompt) => ['POST', '/imgjob/submit/imagine', { prompt }],
  official: (prompt) => ['POST', official, { model: seedance, content: [{ type: 'text', text: prompt }] }],
};

/** Requests with the id of a task in the body or the query, by operation. */
const requestsWithTask: Readonly<Record<string, (id: string) => Request>> = {
  fetchMusicTasks: (id) => ['POST', '/sigma/v1/fetch', { ids: [id] }],
  submitMusic: (id) => ['POST', '/sigma/submit/music', { prompt: 'x', task_id: id }],
  listImageJobs: (id) => ['POST', '/imgjob/task/list-by-condition', { ids: [id] }],
  submitImageAction: (id) => [
    'POST',
    '/imgjob/submit/action',
    { taskId: id, customId: 'IJ::JOB::reroll::0::x::SOLO' },
  ],
  submitImageModal: (id) => ['POST', '/imgjob/submit/modal', { taskId: id, prompt: 'x' }],
  listVideos: (id) => ['GET', `/v1/videos?after=${id}`],
  listMyTasks: (id) => ['GET', `/api/me/tasks?after=${id}`],
  listOfficialVideos: (id) => ['GET', `${official}?filter.task_ids=${id}`],
  createOfficialVideo: (id) => [
    'POST',
    official,
    { model: seedance, content: [{ type: 'draft_task', draft_task: { id } }] },
  ],
  createGenericVideo: (id) => [
    'POST',
    '/v1/video/generations',
    { model: seedance, prompt: 'x', metadata: { content: [{ type: 'draft_task', draft_task: { id } }] } },
  ],
};

/** Requests with the id of a song, or of the task that created it. */
const requestsWithClip: Readonly<Record<string, (id: string) => Request>> = {
  submitMusic: (id) => ['POST', '/sigma/submit/music', { task: 'gen_stem', continue_clip_id: id }],
  createMusic: (id) => ['POST', '/sigma/v1/music', { input: { prompt: 'x', continue_clip_id: id } }],
};

const referenceImage = (url: string) => ({ type: 'image_url', image_url: { url }, role: 'reference_image' });
const requestsWithAsset: Readonly<Record<string, (id: string) => Request>> = {
  createOfficialVideo: (id) => [
    'POST',
    official,
    { model: seedance, content: [referenceImage(`asset://${id}`)] },
  ],
  createVideo: (id) => ['POST', '/v1/videos', { model: seedance, prompt: 'x', image: `asset://${id}` }],
};

const sessions = '/api/resource-channel/vendorx/visual-validate/sessions';
const requestsWithSession: Readonly<Record<string, (id: string) => Request>> = {
  getVerificationSession: (id) => ['GET', `${sessions}/${id}?result_code=10000`],
};

const voiceModels = { 'voice-enrollment': 'voxa-v2', 'alpha-voice-enrollment': 'alpha3-tts-vc-2026-01-22' };
type VoiceService = keyof typeof voiceModels;
const voiceField = (service: VoiceService) => (service === 'voice-enrollment' ? 'voice_id' : 'voice');
const voiceAction = (service: VoiceService, action: string) =>
  service === 'voice-enrollment' ? `${action}_voice` : action;
const requestsWithVoice: Readonly<Record<string, (id: string, service: VoiceService) => Request>> = {
  query: (id) => [
    'POST',
    customization,
    { model: 'voice-enrollment', input: { action: 'query_voice', voice_id: id } },
  ],
  update: (id) => [
    'POST',
    customization,
    {
      model: 'voice-enrollment',
      input: { action: 'update_voice', voice_id: id, url: 'https://files.example/a' },
    },
  ],
  delete: (id, service) => [
    'POST',
    customization,
    { model: service, input: { action: voiceAction(service, 'delete'), [voiceField(service)]: id } },
  ],
  'speak at /v1/audio/speech': (id, service) => [
    'POST',
    '/v1/audio/speech',
    { model: voiceModels[service], input: 'Hi.', voice: id },
  ],
  'speak natively': (id, service) => [
    'POST',
    service === 'voice-enrollment'
      ? '/api/v1/services/audio/tts/SpeechSynthesizer'
      : '/api/v1/services/aigc/multimodal-generation/generation',
    { model: voiceModels[service], input: { text: 'Hi.', voice: id } },
  ],
};

type CreatedResponse = { id?: string; result?: string } & Partial<
  Record<'output' | 'data', Record<string, string>>
>;

/** Operations whose ids are numbers, and the test that covers them. */
const coveredElsewhere: readonly string[] = [
  'deleteToken', // its contract test
  // test/deliveries/endpoints.test.ts
  'getEndpoint',
  'updateEndpoint',
  'deleteEndpoint',
  'rotateEndpointSecret',
  'testEndpoint',
  'listEndpointDeliveries',
  'resendEndpointDelivery',
  // test/server/own-accounts.test.ts
  'updateMyAccountToken',
  'deleteMyAccountToken',
];

/** Operations with one id in the path. Those that require a role reject other callers before they read the id. */
const operationsWithId = Object.entries<OperationFacts>(operations).filter(
  ([id, { path, role }]) =>
    role === undefined && /\{(task_|clip_|session_)?id\}/.test(path) && !coveredElsewhere.includes(id),
);

/** Kinds of resources by the name of the path parameter. Any of them can have the parameter `id`. */
const kindsByParameter: Readonly<Record<string, readonly string[]>> = {
  task_id: Object.keys(tasks),
  clip_id: ['clip', 'music'],
  session_id: ['session'],
  id: [...Object.keys(tasks), 'clip', 'asset', 'session'],
};

/** Requests of operations without a body, derived from the contract. */
const requestsWithPathId = operationsWithId.flatMap(([operation, { method, path, mediaTypes }]) => {
  const [, parameter = ''] = /\{([^}]+)\}/.exec(path) ?? [];
  if (mediaTypes.request.length > 0) return [];
  const request = (id: string): Request => [method.toUpperCase(), path.replace(`{${parameter}}`, id)];
  return [{ operation, request, kinds: kindsByParameter[parameter] ?? [] }];
});

test('every operation with the id of a task, song, session or asset is covered', () => {
  const covered = new Set([
    ...requestsWithPathId.filter(({ kinds }) => kinds.length > 0).map(({ operation }) => operation),
    ...[requestsWithTask, requestsWithAsset, requestsWithClip, requestsWithSession].flatMap(Object.keys),
  ]);
  expect(operationsWithId.map(([id]) => id).filter((id) => !covered.has(id))).toEqual([]);
  expect(requestsWithPathId.length).toBeGreaterThan(12);
});

/** Callers that must not have access to the owner's resources. The second key has a quota limit. */
const otherCallers = {
  'a key of another user': createOtherUserKey,
  'another key of the same user, with limits': async (target: TestGateway) =>
    (await makeKey(target, { quota: 1_000_000_000 })).key,
};
const cases = engines.flatMap((engine) =>
  Object.entries(otherCallers).map(([caller, createKey]) => ({ engine, caller, createKey })),
);

describe.each(cases)('on $engine, $caller', ({ engine, createKey }) => {
  let upstream: RecordingUpstream;
  let target: TestGateway;
  let otherKey: string;
  let skew = 0;
  /** Ids of the owner's resources, by kind and state. */
  const ownedIds = new Map<string, string>();

  const send = async ([method, path, body]: Request, key: string, headers: Record<string, string> = {}) => {
    const reply = await fetch(target.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: reply.status, body: await reply.text() };
  };
  const idOf = ({ body }: { body: string }): string => {
    const { id, output, data, result } = JSON.parse(body) as CreatedResponse;
    if (typeof data === 'string') return data;
    if (result !== undefined) return result;
    return id ?? output?.task_id ?? output?.voice_id ?? output?.voice ?? data?.Id ?? data?.session_id ?? '';
  };
  /** Stored tasks, songs, assets, voices and sessions, without the columns that the poller updates. */
  const storedRows = async () => {
    const { read } = target.gateway.store;
    const rows = await Promise.all([
      read
        .selectFrom('tasks')
        .select(['id', 'user_id', 'format', 'state', 'error_code', 'result', 'completed_at', 'expires_at'])
        .orderBy('id')
        .execute(),
      read.selectFrom('clips').selectAll().orderBy('id').execute(),
      read.selectFrom('assets').selectAll().orderBy('id').execute(),
      read.selectFrom('voices').selectAll().orderBy('voice_id').execute(),
      read
        .selectFrom('verification_sessions')
        .select(['session_id as id', 'user_id', 'status', 'group_id', 'updated_at'])
        .orderBy('session_id')
        .execute(),
    ]);
    return rows.flat();
  };
  const maskIds = (id: string, response: { status: number; body: string }) =>
    `${response.status} ${response.body}`.replaceAll(id, 'ID').replace(/req_[0-9a-f]{32}/g, 'REQ');
  /** Expects that another caller gets the same response for these ids as for unknown ids, without any change. */
  const expectNotFound = async (request: (id: string) => Request, kind: string) => {
    const before = await storedRows();
    const changes = () => upstream.changes().length;
    const sent = changes();
    for (const state of states) {
      const id = ownedIds.get(`${kind} ${state}`) ?? '';
      // The unknown id has the same format and length, so only the id differs.
      const unknownId = id.replace(/[A-Za-z0-9](?=[A-Za-z0-9]{0,7}$)/g, (character) =>
        character === '0' ? '1' : '0',
      );
      const unknownResponse = maskIds(unknownId, await send(request(unknownId), otherKey));
      expect(maskIds(id, await send(request(id), otherKey)), `${kind} ${state}`).toBe(unknownResponse);
    }
    expect(await storedRows()).toEqual(before);
    expect(changes()).toBe(sent);
  };

  beforeAll(async () => {
    upstream = await startMultiProtocolUpstream('up');
    const channels = (['native', 'official', 'eta', 'sigma', 'imgjob', 'verification'] as const).map(
      (protocol) =>
        channelTo(upstream.url, { name: protocol, protocol, voices: 'catalogue', privateFiles: true }),
    );
    const preferredChannel = {
      name: 'better',
      protocol: 'official',
      priority: 10,
      groups: ['both'],
    } as const;
    channels.push(channelTo(upstream.url, preferredChannel));
    const all = { models: ['*'], ratio: 1 };
    const settings = { sandbox: false, channels, groups: { default: all, both: all } };
    target = await startTestGateway(settings, engine, () => Date.now() + skew);
    otherKey = await createKey(target);
    for (const state of states) {
      const prompt = state === 'final' ? completionMarker : 'waits';
      for (const [kind, create] of Object.entries(tasks)) {
        const created = await send(create(prompt), target.key, { 'idempotency-key': `${kind} ${state}` });
        expect(created.status, created.body).toBe(200);
        ownedIds.set(`${kind} ${state}`, idOf(created));
      }
      const upload = { url: `https://files.example/${prompt}.png`, asset_type: 'Image' };
      ownedIds.set(`asset ${state}`, idOf(await send(['POST', '/api/assets/upload', upload], target.key)));
      const callback_url = `https://app.example/${prompt}`;
      ownedIds.set(`session ${state}`, idOf(await send(['POST', sessions, { callback_url }], target.key)));
      for (const [service, target_model] of Object.entries(voiceModels)) {
        const input =
          service === 'voice-enrollment'
            ? { action: 'create_voice', target_model, prefix: 'anna', url: 'https://files.example/a.wav' }
            : {
                action: 'create',
                target_model,
                preferred_name: 'anna',
                audio: { data: 'https://files.example/a' },
              };
        const created = await send(['POST', customization, { model: service, input }], target.key);
        ownedIds.set(`${service} ${state}`, idOf(created));
      }
    }
    const asset = ownedIds.get('asset final') ?? '';
    expect((await send(['GET', `/api/assets/${asset}`], target.key)).body).toContain('"Active"');
    const verified = await send(['GET', `${sessions}/${ownedIds.get('session final')}`], target.key);
    expect(verified.body).toContain('"verified"');
    const voice = { action: 'query_voice', voice_id: ownedIds.get('voice-enrollment final') };
    await send(['POST', customization, { model: 'voice-enrollment', input: voice }], target.key);
    await vi.waitFor(async () => {
      skew += 15_000;
      await target.gateway.tasks.runDue();
      const rows = await target.gateway.store.read.selectFrom('tasks').select(['id', 'state']).execute();
      const final = Object.keys(tasks).map((kind) => ownedIds.get(`${kind} final`) ?? '');
      expect(
        rows
          .filter(({ state }) => state === 'completed')
          .map(({ id }) => id)
          .sort(),
      ).toEqual(final.sort());
      for (const state of states) {
        const clips = target.gateway.store.read.selectFrom('clips').select('id');
        const task = ownedIds.get(`music ${state}`) ?? '';
        ownedIds.set(`clip ${state}`, (await clips.where('task_id', '=', task).executeTakeFirstOrThrow()).id);
      }
    }, 30_000);
  }, 60_000);
  afterAll(async () => {
    await target.close();
    await upstream.close();
  });

  test.each(requestsWithPathId)('$operation does not find the resource', async ({ request, kinds }) => {
    for (const kind of kinds) await expectNotFound(request, kind);
  });

  test.each(Object.entries(requestsWithTask))('%s does not find tasks, open or final', async (_, request) => {
    for (const kind of Object.keys(tasks)) await expectNotFound(request, kind);
  });

  test.each(Object.entries(requestsWithClip))(
    '%s does not find songs, streaming or complete',
    async (_, request) => {
      for (const kind of ['clip', 'music']) await expectNotFound(request, kind);
    },
  );

  test.each(Object.entries(requestsWithAsset))(
    '%s does not find assets, in processing or active',
    (_, request) => expectNotFound(request, 'asset'),
  );

  test.each(Object.entries(requestsWithSession))(
    '%s does not find sessions, pending or verified',
    (_, request) => expectNotFound(request, 'session'),
  );

  describe.each(Object.keys(voiceModels) as VoiceService[])('voices of %s', (service) => {
    test.each(Object.entries(requestsWithVoice))(
      'are not found for %s, in preparation or ready',
      (_, request) => expectNotFound((id) => request(id, service), service),
    );
  });

  test("lists do not contain the owner's resources", async () => {
    for (const path of ['/v1/videos', official])
      expect(JSON.parse((await send(['GET', path], otherKey)).body)).toMatchObject(
        path === official ? { items: [], total: 0 } : { data: [], has_more: false },
      );
    const { body } = await send(['GET', '/api/me/tasks'], otherKey);
    expect(JSON.parse(body)).toMatchObject({ data: { items: [], has_more: false } });
    for (const service of Object.keys(voiceModels) as VoiceService[]) {
      const input = { action: voiceAction(service, 'list'), page_index: 0, page_size: 10 };
      const list = await send(['POST', customization, { model: service, input }], otherKey);
      expect(JSON.parse(list.body)).toMatchObject({ output: { voice_list: [] } });
    }
  });

  test.each(Object.entries(tasks))(
    'an idempotency key of the owner does not return the %s task',
    async (kind, create) => {
      const created = await send(create(completionMarker), otherKey, { 'idempotency-key': `${kind} final` });
      expect(created.status, created.body).toBe(200);
      expect([...ownedIds.values()]).not.toContain(idOf(created));
    },
  );

  test("an asset of the owner does not select the channel of the caller's first upload", async () => {
    const upload = { url: 'https://files.example/waits.png', asset_type: 'Image' };
    const channelOf = async (key: string) => {
      const id = idOf(await send(['POST', '/api/assets/upload', upload], key));
      return (await storedRows()).find((row) => 'channel' in row && 'id' in row && row.id === id);
    };
    // This group has a channel with a higher priority than the one with the owner's assets.
    const both = { quota: 1_000, group: 'both' };
    const user = await target.gateway.store.run('createUser', { name: 'new', group: 'both', now: 1 });
    const otherUsersKey = await makeKey(target, { ...both, userId: user.id });
    expect(await channelOf(otherUsersKey.key)).toMatchObject({ channel: 'better' });
    const own = await makeKey(target, both);
    await setKeyLimited(target, own, false);
    expect(await channelOf(own.key)).toMatchObject({ channel: 'official' });
    // A key with limits cannot access the assets of the user's other keys.
    expect(await channelOf((await makeKey(target, both)).key)).toMatchObject({ channel: 'better' });
  });

  test('the resources still belong to their owner', async () => {
    const lost: string[] = [];
    for (const [name, id] of ownedIds) {
      const row = (await storedRows()).find((one) => ('voice_id' in one ? one.voice_id : one.id) === id);
      if (row?.user_id !== 1) lost.push(name);
    }
    expect(lost).toEqual([]);
    expect(
      (await send(['GET', `/v1/videos/${ownedIds.get('videos eta final')}/content`], target.key)).body,
    ).toBe('a file');
    expect((await send(['DELETE', `${official}/${ownedIds.get('official final')}`], target.key)).status).toBe(
      204,
    );
    expect(
      (await send(['DELETE', `/v1/videos/${ownedIds.get('videos gamma final')}`], target.key)).status,
    ).toBe(200);
    expect(
      (await send(['POST', `/api/v1/tasks/${ownedIds.get('native video open')}/cancel`], target.key)).status,
    ).toBe(200);
  });
});
