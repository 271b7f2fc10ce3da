import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { ledgerRows, makeKey, post } from './ledger.ts';

const route = '/api/v1/services/audio/tts/customization';

describe.each(engines)('custom voices on %s', (engine) => {
  let first: RecordingUpstream;
  let second: RecordingUpstream;
  let target: TestGateway;
  let otherUserKey: string;
  let createdCount = 0;
  let rejection: { status: number; body: string } | undefined;

  const provider = () =>
    startUpstream(({ path, body }, response) => {
      response.setHeader('content-type', 'application/json');
      if (rejection !== undefined) {
        response.writeHead(rejection.status);
        response.end(rejection.body);
        return;
      }
      const { input } = body as { input: Record<string, string> };
      const reply = (output: object, count: number) =>
        response.end(JSON.stringify({ request_id: 'r', output, usage: { count } }));
      if (path !== route) {
        response.end(
          JSON.stringify({
            output: { finish_reason: 'stop', audio: { data: 'AA==' } },
            usage: { characters: 1 },
          }),
        );
        return;
      }
      createdCount += 1;
      if (input.action === 'create_voice')
        reply({ voice_id: `${input.target_model}-${input.prefix}-${createdCount}` }, 1);
      else if (input.action === 'create')
        reply({ voice: `own-${createdCount}`, target_model: input.target_model }, 1);
      else if (input.action === 'query_voice')
        reply({ status: 'OK', target_model: 'x', gmt_create: '', gmt_modified: '' }, 0);
      else reply(input.action === 'delete' ? { voice: input.voice } : {}, 0);
    });

  beforeAll(async () => {
    first = await provider();
    second = await provider();
    target = await startTestGateway(
      {
        sandbox: false,
        channels: [
          channelTo(first.url, { name: 'first', weight: 1, voices: 'catalogue' }),
          channelTo(second.url, { name: 'second', weight: 1, voices: 'catalogue' }),
        ],
        prices: { '*': 1, 'voice-enrollment': 50 },
      },
      engine,
    );
    const user = await target.gateway.store.run('createUser', { name: 'other', group: 'default', now: 1 });
    const { hashKey, keyHint, generateKey } = await import('../../server/store/keys.ts');
    otherUserKey = generateKey();
    await target.gateway.store.run('createToken', {
      userId: user.id,
      name: 'other',
      keyHash: hashKey(otherUserKey),
      keyHint: keyHint(otherUserKey),
      unlimitedQuota: true,
      now: 1,
    });
  });
  afterAll(async () => {
    await target.close();
    await first.close();
    await second.close();
  });

  const customize = async (key: string, model: string, input: object) => {
    const reply = await post(target.url, key, route, { model, input });
    return { status: reply.status, body: JSON.parse(await reply.text()) };
  };
  const clone = {
    action: 'create_voice',
    target_model: 'voxa-v2',
    prefix: 'anna',
    url: 'https://files.example/a.wav',
  };
  const providersThatReceived = (path: string) =>
    [first, second].filter(({ seen }) => seen.some((one) => one.path === path)).length;
  const clearRequests = () => {
    first.seen.length = 0;
    second.seen.length = 0;
  };

  test('a voice is charged once, stored, and speaks only through the channel that created it', async () => {
    const { status, body } = await customize(target.key, 'voice-enrollment', clone);
    expect([status, body.output.voice_id]).toEqual([200, expect.stringMatching(/^voxa-v2-anna-/)]);
    expect((await ledgerRows(target)).at(-1)).toMatchObject({
      state: 'settled',
      reserved: 50,
      charged: 50,
      unit: 'actions',
    });
    const owningProvider = first.seen.length > 0 ? first : second;
    const otherProvider = owningProvider === first ? second : first;
    clearRequests();
    const native = '/api/v1/services/audio/tts/SpeechSynthesizer';
    for (let round = 0; round < 12; round += 1) {
      const reply = await post(target.url, target.key, native, {
        model: 'voxa-v2',
        input: { text: 'Hi', voice: body.output.voice_id },
      });
      expect(reply.status).toBe(200);
    }
    expect([owningProvider.seen.length, otherProvider.seen.length]).toEqual([12, 0]);
  });

  test('a voice works with no other model, and does not exist for other users', async () => {
    const { body } = await customize(target.key, 'voice-enrollment', clone);
    const voice = body.output.voice_id;
    clearRequests();
    const other = await post(target.url, target.key, '/v1/audio/speech', {
      model: 'voxa-v3-plus',
      input: 'Hi',
      voice,
    });
    expect([other.status, await other.json()]).toEqual([
      400,
      {
        error: expect.objectContaining({
          message: `voice: "${voice}" was made for voxa-v2 and works with no other model.`,
        }),
      },
    ]);
    const asOtherUser = await post(target.url, otherUserKey, '/v1/audio/speech', {
      model: 'voxa-v2',
      input: 'Hi',
      voice,
    });
    expect([asOtherUser.status, await asOtherUser.json()]).toEqual([
      400,
      {
        error: expect.objectContaining({
          message: expect.stringContaining(`voice: "${voice}" is not a voice of voxa-v2; it has voxanna`),
        }),
      },
    ]);
    for (const input of [
      { action: 'query_voice', voice_id: voice },
      { action: 'update_voice', voice_id: voice, url: 'https://files.example/b.wav' },
      { action: 'delete_voice', voice_id: voice },
    ]) {
      expect(await customize(otherUserKey, 'voice-enrollment', input)).toMatchObject({
        status: 404,
        body: { error: { code: 'voice_not_found' } },
      });
    }
    expect(providersThatReceived(route) + providersThatReceived('/v1/audio/speech')).toBe(0);
  });

  test('lists contain only the voices of the caller, with their current status', async () => {
    const { body } = await customize(otherUserKey, 'voice-enrollment', { ...clone, prefix: 'zoe' });
    const ownList = await customize(target.key, 'voice-enrollment', {
      action: 'list_voice',
      page_size: 1000,
    });
    const ids = ownList.body.output.voice_list.map(({ voice_id }: { voice_id: string }) => voice_id);
    expect(ids.length).toBeGreaterThan(0);
    expect(ids).not.toContain(body.output.voice_id);
    const othersList = await customize(otherUserKey, 'voice-enrollment', {
      action: 'list_voice',
      prefix: 'zoe',
    });
    expect(othersList.body).toMatchObject({
      output: { voice_list: [{ voice_id: body.output.voice_id, status: 'OK' }] },
      usage: { count: 0 },
    });
    expect(
      (await customize(otherUserKey, 'voice-enrollment', { action: 'list_voice', prefix: 'none' })).body
        .output.voice_list,
    ).toEqual([]);
  });

  test('alpha voices are listed in pages, and do not exist once deleted', async () => {
    const create = {
      action: 'create',
      target_model: 'alpha3-tts-vc-2026-01-22',
      preferred_name: 'anna',
      audio: { data: 'https://files.example/a.wav' },
    };
    const voices: string[] = [];
    for (let round = 0; round < 3; round += 1)
      voices.push((await customize(target.key, 'alpha-voice-enrollment', create)).body.output.voice);
    const page = await customize(target.key, 'alpha-voice-enrollment', {
      action: 'list',
      page_index: 1,
      page_size: 2,
    });
    expect(page.body.output).toMatchObject({ page_index: 1, page_size: 2, total_count: 3 });
    expect(page.body.output.voice_list).toHaveLength(1);
    const deletion = { action: 'delete', voice: voices[0] };
    expect((await customize(target.key, 'alpha-voice-enrollment', deletion)).status).toBe(200);
    expect((await customize(target.key, 'alpha-voice-enrollment', deletion)).status).toBe(404);
  });

  test.each([
    ['voice-enrollment', { ...clone, target_model: 'alpha3-tts-flash' }],
    [
      'alpha-voice-enrollment',
      {
        action: 'create',
        target_model: 'alpha3-tts-vd-2026-01-26',
        preferred_name: 'a',
        audio: { data: 'https://x.example/a' },
      },
    ],
    [
      'alpha-voice-design',
      {
        action: 'create',
        target_model: 'alpha3-tts-vc-2026-01-22',
        preferred_name: 'a',
        voice_prompt: 'low',
        preview_text: 'Hi',
      },
    ],
  ])('%s refuses a target model of another kind without a request to the provider', async (model, input) => {
    clearRequests();
    expect(await customize(target.key, model, input)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringMatching(/^input.target_model: /) } },
    });
    expect(providersThatReceived(route)).toBe(0);
  });

  test('a beta voice cloned on the multimodal route belongs to its creator, and its id is unavailable to others', async () => {
    const multimodal = '/api/v1/services/aigc/multimodal-generation/generation';
    const model = 'beta/speech-02-hd';
    const input = {
      action: 'voice_clone',
      text: 'Hi',
      voice_id: `narrator-${engine}`,
      audio_url: 'https://files.example/a.wav',
    };
    expect((await post(target.url, target.key, multimodal, { model, input })).status).toBe(200);
    const repeated = await post(target.url, otherUserKey, multimodal, { model, input });
    expect([repeated.status, await repeated.json()]).toEqual([
      400,
      { error: expect.objectContaining({ message: expect.stringMatching(/^input.voice_id: .* is taken/) }) },
    ]);
    const speak = (key: string, other = model) =>
      post(target.url, key, multimodal, {
        model: other,
        input: { text: 'Hi', voice_setting: { voice_id: input.voice_id } },
      });
    expect((await speak(target.key)).status).toBe(200);
    expect((await speak(target.key, 'beta/speech-2.8-hd')).status).toBe(400);
    expect((await speak(otherUserKey)).status).toBe(400);
  });

  test('a rejection by the provider is forwarded unchanged and costs nothing', async () => {
    rejection = { status: 400, body: '{"code":"InvalidURL","message":"no","request_id":"q"}' };
    const { key, id } = await makeKey(target, { quota: 50 });
    const reply = await customize(key, 'voice-enrollment', clone);
    rejection = undefined;
    expect(reply).toEqual({ status: 400, body: { code: 'InvalidURL', message: 'no', request_id: 'q' } });
    const row = await target.gateway.store.read
      .selectFrom('tokens')
      .select('remain_quota')
      .where('id', '=', id)
      .executeTakeFirst();
    expect(row?.remain_quota).toBe(50);
  });
});
