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

interface Told {
  output: { voice_list: Voice[]; total_count?: number };
}

describe.each(engines)('a custom voice on %s', (engine) => {
  let upstream: RecordingUpstream;
  let target: TestGateway;
  let now = start;
  let answer: (response: ServerResponse, input: Record<string, string>) => void;

  beforeAll(async () => {
    upstream = await startUpstream(({ body }, response) => {
      response.setHeader('content-type', 'application/json');
      answer(response, (body as { input: Record<string, string> }).input);
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

  const says = (output: object, count = 1) => {
    answer = (response) => void response.end(JSON.stringify({ request_id: 'r', output, usage: { count } }));
  };
  const refuses = (status: number, code: string) => {
    answer = (response) => {
      response.writeHead(status);
      response.end(JSON.stringify({ code, message: 'No.', request_id: 'r' }));
    };
  };
  const ask = async (input: object, model = 'voice-enrollment') => {
    const reply = await post(target.url, target.key, customization, { model, input });
    return { status: reply.status, body: (await reply.json()) as Told };
  };
  const clone = {
    action: 'create_voice',
    target_model: 'voxa-v2',
    prefix: 'anna',
    url: 'https://x.example/a.wav',
  };
  const voice_id = 'voxa-v2-anna-1';
  const made = async () => {
    says({ voice_id });
    expect((await ask(clone)).status).toBe(200);
  };
  const listed = async (): Promise<Voice[]> => (await ask({ action: 'list_voice' })).body.output.voice_list;
  const query = { action: 'query_voice', voice_id };

  test.each(['VoiceNotFound', 'BadRequest.ResourceNotExist', 'Resource.NotFound'])(
    'that its provider has forgotten, which says %s, can be deleted, for nothing',
    async (code) => {
      await made();
      refuses(code.startsWith('BadRequest') ? 400 : 404, code);
      expect(await ask({ action: 'delete_voice', voice_id })).toEqual({
        status: 200,
        body: { request_id: expect.any(String), output: {}, usage: { count: 0 } },
      });
      expect((await logRows(target)).at(-1)).toMatchObject({ status: 200, quota: 0 });
      expect((await ledgerRows(target)).map(({ state }) => state)).not.toContain('open');
      expect(await listed()).toEqual([]);
      expect((await ask({ action: 'delete_voice', voice_id })).status).toBe(404);
    },
  );

  test('of an alpha model that its provider has forgotten can be deleted, too', async () => {
    const id = `alpha-tts-vc-${engine}-voice-20260101-abcd`;
    const service = 'alpha-voice-enrollment';
    const model = 'alpha3-tts-vc-2026-01-22';
    await saveVoice(target.gateway, { id, userId: 1, model, channel: 'recording', service });
    refuses(404, 'VoiceNotFound');
    const reply = await ask({ action: 'delete', voice: id }, service);
    expect(reply).toMatchObject({ status: 200, body: { output: { voice: id }, usage: { count: 0 } } });
    expect((await ask({ action: 'list' }, service)).body.output.total_count).toBe(0);
  });

  test.each([
    ['delete_voice', 404, 'ModelNotFound'],
    ['delete_voice', 400, 'InvalidParameter'],
    ['delete_voice', 429, 'Throttling'],
    ['query_voice', 404, 'VoiceNotFound'],
  ])('stays when %s is refused with %i %s', async (action, status, code) => {
    await made();
    refuses(status, code);
    expect(await ask({ action, voice_id })).toMatchObject({ status, body: { code } });
    answer = (response) => void response.writeHead(500).end();
    expect((await listed()).map((one) => one.voice_id)).toEqual([voice_id]);
  });

  test('has one time of change, on a list as on a query, and it is when it changed', async () => {
    await made();
    // In a zone of the provider's own, half a minute after it was made.
    const ready = { status: 'OK', gmt_create: '2026-03-01 20:00:01', gmt_modified: '2026-03-01 20:00:31' };
    says({ ...ready, target_model: 'x' }, 0);
    now = start + 3_600_000;
    const changed = { gmt_create: '2026-03-01 12:00:00', gmt_modified: '2026-03-01 12:00:30' };
    for (let times = 0; times < 3; times += 1) {
      const { body } = await ask(query);
      expect(body).toEqual({
        request_id: 'r',
        output: { ...changed, status: 'OK', target_model: 'x' },
        usage: { count: 0 },
      });
      expect(await listed()).toEqual([{ voice_id, ...changed, status: 'OK' }]);
      now += 60_000;
    }
    says({});
    expect((await ask({ action: 'update_voice', voice_id, url: 'https://x.example/b.wav' })).status).toBe(
      200,
    );
    const anew = '2026-03-01 13:03:00';
    says({ ...ready, status: 'DEPLOYING' }, 0);
    now += 60_000;
    expect(await listed()).toMatchObject([{ status: 'DEPLOYING', gmt_modified: anew }]);
    says(ready, 0);
    expect(await listed()).toMatchObject([{ status: 'OK', gmt_modified: anew }]);
    expect((await ask(query)).body.output).toMatchObject({ gmt_modified: anew });
  });

  test('changed when that was found out, where the provider tells nothing of the time', async () => {
    await made();
    says({ status: 'UNDEPLOYED' }, 0);
    now = start + 90_000;
    expect(await listed()).toMatchObject([{ status: 'UNDEPLOYED', gmt_modified: '2026-03-01 12:01:30' }]);
  });

  test('found out twice at the same time has changed once', async () => {
    await made();
    const { store } = target.gateway;
    const found = { voiceId: voice_id, userId: 1, from: 'DEPLOYING', status: 'OK' };
    expect(await store.run('updateVoice', { ...found, now: start + 1 })).toBe(true);
    expect(await store.run('updateVoice', { ...found, now: start + 2 })).toBe(false);
  });

  describe('whose client hangs up in the middle', () => {
    let waiting: (() => void)[];
    let logged: number;
    const hold = (output: object) => {
      waiting = [];
      answer = (response) => {
        const body = JSON.stringify({ request_id: 'r', output, usage: { count: 1, characters: 2 } });
        waiting.push(() => void response.end(body));
      };
    };
    const hangUp = async (path: string, body: object) => {
      logged = (await logRows(target)).length;
      const client = new AbortController();
      const call = post(target.url, target.key, path, body, { signal: client.signal });
      await vi.waitFor(() => expect(waiting).toHaveLength(1), { timeout: 10_000 });
      client.abort();
      await expect(call).rejects.toThrow('abort');
    };
    const settled = (quota: number) =>
      vi.waitFor(
        async () => expect((await logRows(target)).slice(logged)).toMatchObject([{ status: 200, quota }]),
        { timeout: 10_000 },
      );

    test('is made, kept and paid all the same', async () => {
      hold({ voice_id });
      await hangUp(customization, { model: 'voice-enrollment', input: clone });
      waiting[0]?.();
      await settled(1);
      answer = (response) => void response.writeHead(500).end();
      expect((await listed()).map((one) => one.voice_id)).toEqual([voice_id]);
    });

    test('is gone all the same, when it was to be deleted', async () => {
      await made();
      hold({});
      await hangUp(customization, { model: 'voice-enrollment', input: { action: 'delete_voice', voice_id } });
      const [release] = waiting;
      answer = (response) => void response.writeHead(500).end();
      release?.();
      await vi.waitFor(async () => expect(await listed()).toEqual([]), { timeout: 10_000 });
      await settled(1);
    });

    test('belongs to its maker, if it is a beta one', async () => {
      hold({ base_resp: { status_code: 0, status_msg: '' } });
      const id = `annas-own-${engine}`;
      const input = { text: 'Hi', action: 'voice_clone', voice_id: id, audio_url: 'https://x.example/a.wav' };
      await hangUp(multimodal, { model: 'beta/speech-02-hd', input });
      waiting[0]?.();
      await settled(2);
      const { channel, service } = await target.gateway.store.read
        .selectFrom('voices')
        .select(['channel', 'service'])
        .where('voice_id', '=', id)
        .executeTakeFirstOrThrow();
      expect([channel, service]).toEqual([expect.stringMatching(/recording|second/), 'voice_clone']);
    });

    test('is kept before the gateway stops', async () => {
      const other = await startTestGateway({ sandbox: false, channels: [channelTo(upstream.url)] });
      const run = vi.spyOn(other.gateway.store, 'run');
      hold({ voice_id });
      const client = new AbortController();
      const body = { model: 'voice-enrollment', input: clone };
      const call = post(other.url, other.key, customization, body, { signal: client.signal });
      await vi.waitFor(() => expect(waiting).toHaveLength(1), { timeout: 10_000 });
      client.abort();
      await expect(call).rejects.toThrow('abort');
      const closed = other.close();
      waiting[0]?.();
      await closed;
      expect(run).toHaveBeenCalledWith('saveVoice', expect.objectContaining({ voice_id }));
    });
  });

  test('of a beta model is asked of one channel only, whatever that answers', async () => {
    answer = (response) => void response.writeHead(500).end();
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

  test('asks about four at a time, and says what it knows when that takes too long', async () => {
    const listed = list();
    await vi.waitFor(() => expect(open).toHaveLength(4));
    target.timers.advance(5_000);
    expect(await listed).toEqual(Array.from({ length: 25 }, () => 'DEPLOYING'));
    expect(upstream.seen).toHaveLength(4);
  });

  test('asks about twenty of them in all', async () => {
    const listed = list();
    for (let answered = 0; answered < 20; answered += 1) {
      await vi.waitFor(() => expect(open.length).toBeGreaterThan(answered));
      expect(open.length - answered).toBeLessThanOrEqual(4);
      const output = { status: 'OK' };
      open[answered]?.end(JSON.stringify({ request_id: 'r', output, usage: { count: 0 } }));
    }
    const statuses = await listed;
    expect(statuses.filter((status) => status === 'OK')).toHaveLength(20);
    expect(upstream.seen).toHaveLength(20);
  });
});
