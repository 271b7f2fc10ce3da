import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startSocketGateway } from '../realtime/start.ts';
import { engines } from '../store/engines.ts';
import { saveVoice } from '../support/custom-voices.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { ledgerRows, logRows, post } from './ledger.ts';

const customization = '/api/v1/services/audio/tts/customization';
const multimodal = '/api/v1/services/aigc/multimodal-generation/generation';
const start = Date.parse('2026-03-01T12:00:00Z');

interface Voice {
  voice_id: string;
  status?: string;
  gmt_create: string;
  gmt_modified: string;
}

interface CustomizationResponse {
  output: { voice_list: Voice[]; total_count?: number };
}

describe.each(engines)('a custom voice on %s', (engine) => {
  let upstream: RecordingUpstream;
  let target: TestGateway;
  let now = start;
  let respond: (response: ServerResponse, input: Record<string, string>) => void;

  beforeAll(async () => {
    upstream = await startUpstream(({ body }, response) => {
      response.setHeader('content-type', 'application/json');
      respond(response, (body as { input: Record<string, string> }).input);
    });
    const channels = [channelTo(upstream.url), channelTo(upstream.url, { name: 'second' })];
    target = await startTestGateway({ sandbox: false, channels }, engine, () => now);
  });
  beforeEach(async () => {
    now = start;
    upstream.seen.length = 0;
    await target.gateway.store.run('deleteVoice', { voiceId: 'voxa-v2-anna-1', userId: 1 });
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
  });

  const respondWith = (output: object, count = 1) => {
    respond = (response) => void response.end(JSON.stringify({ request_id: 'r', output, usage: { count } }));
  };
  const rejectWith = (status: number, code: string) => {
    respond = (response) => {
      response.writeHead(status);
      response.end(JSON.stringify({ code, message: 'No.', request_id: 'r' }));
    };
  };
  const customize = async (input: object, model = 'voice-enrollment') => {
    const reply = await post(target.url, target.key, customization, { model, input });
    return { status: reply.status, body: (await reply.json()) as CustomizationResponse };
  };
  const clone = {
    action: 'create_voice',
    target_model: 'voxa-v2',
    prefix: 'anna',
    url: 'https://x.example/a.wav',
  };
  const voice_id = 'voxa-v2-anna-1';
  const createVoice = async () => {
    respondWith({ voice_id });
    expect((await customize(clone)).status).toBe(200);
  };
  const listed = async (): Promise<Voice[]> =>
    (await customize({ action: 'list_voice' })).body.output.voice_list;
  const query = { action: 'query_voice', voice_id };

  test.each(['VoiceNotFound', 'BadRequest.ResourceNotExist', 'Resource.NotFound'])(
    'that its provider has lost, reported as %s, can be deleted free of charge',
    async (code) => {
      await createVoice();
      rejectWith(code.startsWith('BadRequest') ? 400 : 404, code);
      expect(await customize({ action: 'delete_voice', voice_id })).toEqual({
        status: 200,
        body: { request_id: expect.any(String), output: {}, usage: { count: 0 } },
      });
      expect((await logRows(target)).at(-1)).toMatchObject({ status: 200, quota: 0 });
      expect((await ledgerRows(target)).map(({ state }) => state)).not.toContain('open');
      expect(await listed()).toEqual([]);
      expect((await customize({ action: 'delete_voice', voice_id })).status).toBe(404);
    },
  );

  test('of an alpha model that its provider has lost can be deleted, too', async () => {
    const id = `alpha-tts-vc-${engine}-voice-20260101-abcd`;
    const service = 'alpha-voice-enrollment';
    const model = 'alpha3-tts-vc-2026-01-22';
    await saveVoice(target.gateway, { id, userId: 1, model, channel: 'recording', service });
    rejectWith(404, 'VoiceNotFound');
    const reply = await customize({ action: 'delete', voice: id }, service);
    expect(reply).toMatchObject({ status: 200, body: { output: { voice: id }, usage: { count: 0 } } });
    expect((await customize({ action: 'list' }, service)).body.output.total_count).toBe(0);
  });

  test.each([
    ['delete_voice', 404, 'ModelNotFound'],
    ['delete_voice', 400, 'InvalidParameter'],
    ['delete_voice', 429, 'Throttling'],
    ['query_voice', 404, 'VoiceNotFound'],
  ])('is not deleted when %s is rejected with %i %s', async (action, status, code) => {
    await createVoice();
    rejectWith(status, code);
    expect(await customize({ action, voice_id })).toMatchObject({ status, body: { code } });
    respond = (response) => void response.writeHead(500).end();
    expect((await listed()).map((one) => one.voice_id)).toEqual([voice_id]);
  });

  test('has the same time of change in a list and in a query', async () => {
    await createVoice();
    // In the time zone of the provider, 30 s after the creation.
    const ready = { status: 'OK', gmt_create: '2026-03-01 20:00:01', gmt_modified: '2026-03-01 20:00:31' };
    respondWith({ ...ready, target_model: 'x' }, 0);
    now = start + 3_600_000;
    const changed = { gmt_create: '2026-03-01 12:00:00', gmt_modified: '2026-03-01 12:00:30' };
    for (let round = 0; round < 3; round += 1) {
      const { body } = await customize(query);
      expect(body).toEqual({
        request_id: 'r',
        output: { ...changed, status: 'OK', target_model: 'x' },
        usage: { count: 0 },
      });
      expect(await listed()).toEqual([{ voice_id, ...changed, status: 'OK' }]);
      now += 60_000;
    }
    respondWith({});
    expect(
      (await customize({ action: 'update_voice', voice_id, url: 'https://x.example/b.wav' })).status,
    ).toBe(200);
    const changedAgain = '2026-03-01 13:03:00';
    respondWith({ ...ready, status: 'DEPLOYING' }, 0);
    now += 60_000;
    expect(await listed()).toMatchObject([{ status: 'DEPLOYING', gmt_modified: changedAgain }]);
    respondWith(ready, 0);
    expect(await listed()).toMatchObject([{ status: 'OK', gmt_modified: changedAgain }]);
    expect((await customize(query)).body.output).toMatchObject({ gmt_modified: changedAgain });
  });

  test('gets the time of the poll as its time of change if the provider reports none', async () => {
    await createVoice();
    respondWith({ status: 'UNDEPLOYED' }, 0);
    now = start + 90_000;
    expect(await listed()).toMatchObject([{ status: 'UNDEPLOYED', gmt_modified: '2026-03-01 12:01:30' }]);
  });

  test('changes once if two polls find the same change', async () => {
    await createVoice();
    const { store } = target.gateway;
    const found = { voiceId: voice_id, userId: 1, from: 'DEPLOYING', status: 'OK' };
    expect(await store.run('updateVoice', { ...found, now: start + 1 })).toBe(true);
    expect(await store.run('updateVoice', { ...found, now: start + 2 })).toBe(false);
  });

  describe('whose client disconnects in the middle', () => {
    let heldResponses: (() => void)[];
    let logCount: number;
    const holdResponse = (output: object) => {
      heldResponses = [];
      respond = (response) => {
        const body = JSON.stringify({ request_id: 'r', output, usage: { count: 1, characters: 2 } });
        heldResponses.push(() => void response.end(body));
      };
    };
    const disconnect = async (path: string, body: object) => {
      logCount = (await logRows(target)).length;
      const client = new AbortController();
      const call = post(target.url, target.key, path, body, { signal: client.signal });
      await vi.waitFor(() => expect(heldResponses).toHaveLength(1), { timeout: 10_000 });
      client.abort();
      await expect(call).rejects.toThrow('abort');
    };
    const expectLogged = (quota: number) =>
      vi.waitFor(
        async () => expect((await logRows(target)).slice(logCount)).toMatchObject([{ status: 200, quota }]),
        { timeout: 10_000 },
      );

    test('is created, stored and charged', async () => {
      holdResponse({ voice_id });
      await disconnect(customization, { model: 'voice-enrollment', input: clone });
      heldResponses[0]?.();
      await expectLogged(1);
      respond = (response) => void response.writeHead(500).end();
      expect((await listed()).map((one) => one.voice_id)).toEqual([voice_id]);
    });

    test('is deleted', async () => {
      await createVoice();
      holdResponse({});
      await disconnect(customization, {
        model: 'voice-enrollment',
        input: { action: 'delete_voice', voice_id },
      });
      const [release] = heldResponses;
      respond = (response) => void response.writeHead(500).end();
      release?.();
      await vi.waitFor(async () => expect(await listed()).toEqual([]), { timeout: 10_000 });
      await expectLogged(1);
    });

    test('belongs to its creator, if it is a beta voice', async () => {
      holdResponse({ base_resp: { status_code: 0, status_msg: '' } });
      const id = `annas-own-${engine}`;
      const input = { text: 'Hi', action: 'voice_clone', voice_id: id, audio_url: 'https://x.example/a.wav' };
      await disconnect(multimodal, { model: 'beta/speech-02-hd', input });
      heldResponses[0]?.();
      await expectLogged(2);
      const { channel, service } = await target.gateway.store.read
        .selectFrom('voices')
        .select(['channel', 'service'])
        .where('voice_id', '=', id)
        .executeTakeFirstOrThrow();
      expect([channel, service]).toEqual([expect.stringMatching(/recording|second/), 'voice_clone']);
    });

    test('is stored before the gateway stops', async () => {
      const other = await startTestGateway({ sandbox: false, channels: [channelTo(upstream.url)] });
      const run = vi.spyOn(other.gateway.store, 'run');
      holdResponse({ voice_id });
      const client = new AbortController();
      const body = { model: 'voice-enrollment', input: clone };
      const call = post(other.url, other.key, customization, body, { signal: client.signal });
      await vi.waitFor(() => expect(heldResponses).toHaveLength(1), { timeout: 10_000 });
      client.abort();
      await expect(call).rejects.toThrow('abort');
      const closed = other.close();
      heldResponses[0]?.();
      await closed;
      expect(run).toHaveBeenCalledWith('saveVoice', expect.objectContaining({ voice_id }));
    });
  });

  test('of a beta model is requested from one channel only, whatever the response', async () => {
    respond = (response) => void response.writeHead(500).end();
    const input = {
      text: 'Hi',
      action: 'voice_clone',
      voice_id: 'never-made',
      audio_url: 'https://x.example/a.wav',
    };
    const reply = await post(target.url, target.key, multimodal, { model: 'beta/speech-02-hd', input });
    expect([reply.status, upstream.seen.length]).toEqual([502, 1]);
  });
});

describe('a list of many voices in preparation', () => {
  let upstream: RecordingUpstream;
  let target: Awaited<ReturnType<typeof startSocketGateway>>;
  let open: ServerResponse[];
  beforeAll(async () => {
    upstream = await startUpstream((_request, response) => void open.push(response));
    target = await startSocketGateway({ channels: [channelTo(upstream.url)] });
    for (let index = 0; index < 25; index += 1) {
      const id = `voxa-v2-many-${index}`;
      await saveVoice(target.gateway, {
        id,
        userId: 1,
        model: 'voxa-v2',
        channel: 'recording',
        status: 'DEPLOYING',
      });
    }
  });
  beforeEach(() => {
    open = [];
    upstream.seen.length = 0;
  });
  afterEach(() => {
    for (const response of open) response.destroy();
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
  });
  const list = async () => {
    const input = { action: 'list_voice', page_size: 100 };
    const reply = await post(target.url, target.key, customization, { model: 'voice-enrollment', input });
    const { output } = (await reply.json()) as { output: { voice_list: Voice[] } };
    return output.voice_list.map(({ status }) => status);
  };

  test('polls four at a time, and returns the last known state after a timeout', async () => {
    const listed = list();
    await vi.waitFor(() => expect(open).toHaveLength(4));
    target.timers.advance(5_000);
    expect(await listed).toEqual(Array.from({ length: 25 }, () => 'DEPLOYING'));
    expect(upstream.seen).toHaveLength(4);
  });

  test('polls at most twenty of them', async () => {
    const listed = list();
    for (let responseCount = 0; responseCount < 20; responseCount += 1) {
      await vi.waitFor(() => expect(open.length).toBeGreaterThan(responseCount));
      expect(open.length - responseCount).toBeLessThanOrEqual(4);
      const output = { status: 'OK' };
      open[responseCount]?.end(JSON.stringify({ request_id: 'r', output, usage: { count: 0 } }));
    }
    const statuses = await listed;
    expect(statuses.filter((status) => status === 'OK')).toHaveLength(20);
    expect(upstream.seen).toHaveLength(20);
  });
});
