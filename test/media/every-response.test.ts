import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Receiver } from '../deliveries/receiver.ts';
import { post } from '../server/ledger.ts';
import { completionMarker, startMultiProtocolUpstream } from '../server/multi-protocol-upstream.ts';
import { saveVoice } from '../support/custom-voices.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';

const publicUrl = 'https://gateway.example';
const protocols = ['native', 'official', 'eta'] as const;

/** Host of the provider's files. Nothing else in a response contains it. */
const host = 'bucket-7.provider.example';
const fileUrl = `https://${host}/made/file.wav?signature=9f2c`;

const start = (url: string, relayMedia: boolean) =>
  startTestGateway({
    sandbox: false,
    publicUrl,
    callbacks: { allowPrivate: true, secret: undefined },
    channels: protocols.map((protocol) => channelTo(url, { name: protocol, protocol, relayMedia })),
  });

describe.each([
  ['with relay_media', true],
  ['without', false],
])('%s', (_title, relayMedia) => {
  /** With relay_media a response has links and no provider host, otherwise the reverse. */
  const expectLinks = (text: string, providerHost: string) => {
    expect(text.includes(providerHost)).toBe(!relayMedia);
    const links = text.match(/https:\/\/gateway\.example\/v1\/files\/[^"]+/g) ?? [];
    expect(links.length > 0).toBe(relayMedia);
  };

  describe('tasks', () => {
    let upstream: RecordingUpstream;
    let receiver: Receiver;
    let target: TestGateway;
    beforeAll(async () => {
      upstream = await startMultiProtocolUpstream('up');
      receiver = await Receiver.start();
      target = await start(upstream.url, relayMedia);
    });
    afterAll(async () => {
      await target.close();
      await receiver.close();
      await upstream.close();
    });

    const generic = '/v1/video/generations';
    const official = '/api/v3/contents/generations/tasks';
    const services = '/api/v1/services/aigc/video-generation';
    const seedance = 'epsilon-delta-2-0-260128';
    const prompt = completionMarker;
    const get = async (path: string) => {
      const response = await fetch(target.url + path, { headers: { authorization: `Bearer ${target.key}` } });
      return response.text();
    };

    test.each([
      ['a gamma video', '/v1/videos', { model: 'gamma3.0-video', prompt }, '/v1/videos/{id}'],
      ['a gamma video, generic', generic, { model: 'gamma3.0-video', prompt }, `${generic}/{id}`],
      ['a Seedance video', '/v1/videos', { model: seedance, prompt }, '/v1/videos/{id}'],
      ['a Seedance record', generic, { model: seedance, prompt }, `${generic}/{id}`],
      ['an eta video', '/v1/videos', { model: 'eta-imagine-video', prompt }, '/v1/videos/{id}'],
      ['a list of videos', '/v1/videos', { model: 'eta-imagine-video', prompt }, '/v1/videos'],
      [
        'an official task',
        official,
        { model: seedance, content: [{ type: 'text', text: prompt }] },
        `${official}/{id}`,
      ],
      [
        'a list of official tasks',
        official,
        { model: seedance, content: [{ type: 'text', text: prompt }] },
        official,
      ],
      [
        'a native task',
        `${services}/video-synthesis`,
        { model: 'gamma3.0-video', input: { prompt } },
        '/api/v1/tasks/{id}',
      ],
      [
        'a 3D task',
        `${services}/3d-generation`,
        { model: 'theta-3d', input: { prompt } },
        '/api/v1/tasks/{id}',
      ],
      [
        'an asset',
        '/api/assets/upload',
        { url: `https://x.example/${completionMarker}.png`, asset_type: 'Image' },
        '/api/assets/{id}',
      ],
    ])('%s', async (_what, path, body, read) => {
      const made = (await (await post(target.url, target.key, path, body)).json()) as Made;
      const id = made.id ?? made.output?.task_id ?? made.data?.Id ?? '';
      let text = '';
      await expect
        .poll(async () => (text = await get(read.replace('{id}', id))), { timeout: 15_000, interval: 50 })
        .toContain('http');
      expectLinks(text, new URL(upstream.url).host);
    });

    test('a callback', async () => {
      const content = [{ type: 'text', text: prompt }];
      const body = { model: seedance, content, callback_url: receiver.url() };
      await post(target.url, target.key, official, body);
      const received = () => receiver.seen.map(({ body }) => JSON.stringify(body)).join('\n');
      await expect.poll(received, { timeout: 15_000, interval: 50 }).toContain('succeeded');
      expectLinks(received(), new URL(upstream.url).host);
    });
  });

  describe('speech', () => {
    let upstream: RecordingUpstream;
    let target: TestGateway;
    /** The provider's response. */
    let reply: [type: string, body: string];
    beforeAll(async () => {
      upstream = await startUpstream((_, response) => {
        response.writeHead(200, { 'content-type': reply[0] }).end(reply[1]);
      });
      target = await start(upstream.url, relayMedia);
      // A voice of an older version, which did not store the URL of the recording.
      const old = { id: `old-${relayMedia}`, userId: 1, model: 'voxa-v3.5-flash', channel: 'native' };
      await saveVoice(target.gateway, old);
    });
    afterAll(async () => {
      await target.close();
      await upstream.close();
    });

    const usage = { characters: 5 };
    const whole = (output: object): [string, string] => [
      'application/json',
      JSON.stringify({ request_id: 'r', output, usage }),
    ];
    const eventsOf = (...outputs: object[]): [string, string] => [
      'text/event-stream',
      outputs
        .map((output, index) => {
          const data = JSON.stringify({ request_id: 'r', output, usage });
          return `id:${index + 1}\nevent:result\n:HTTP_STATUS/200\ndata:${data}\n\n`;
        })
        .join(''),
    ];
    const audio = (data: string, url = '') => ({ data, url, id: 'a', expires_at: 1_925_000_000 });
    const done = { finish_reason: 'stop', audio: audio('', fileUrl) };
    const long = 'QUJD'.repeat(400_000);
    const events = [{ finish_reason: 'null', audio: audio('QUJD') }, done] as const;

    const synthesizer = '/api/v1/services/audio/tts/SpeechSynthesizer';
    const multimodal = '/api/v1/services/aigc/multimodal-generation/generation';
    const customization = '/api/v1/services/audio/tts/customization';
    const voxa = { model: 'voxa-v3-flash', input: { text: 'Hello', voice: 'voxanna' } };
    const alpha = { model: 'alpha3-tts-flash', input: { text: 'Hello', voice: 'Aria' } };
    const beta = {
      model: 'beta/speech-2.8-hd',
      input: { text: 'Hello', voice_setting: { voice_id: 'beta_male_deep' } },
    };
    const clone = {
      model: beta.model,
      input: { text: 'Hello', action: 'voice_clone', audio_url: 'https://x.example/a.wav' },
    };
    const sse = { 'x-native-sse': 'enable' };
    const good = { base_resp: { status_code: 0, status_msg: 'success' } };
    const enroll = {
      action: 'create_voice',
      target_model: 'voxa-v3.5-flash',
      prefix: 'a',
      url: 'https://x.example/a.wav',
    };

    test.each([
      ['a synthesizer response', synthesizer, voxa, {}, whole(done)],
      ['a long synthesizer response', synthesizer, voxa, {}, whole({ ...done, audio: audio(long, fileUrl) })],
      ['synthesizer events', synthesizer, voxa, sse, eventsOf(...events)],
      [
        'long events',
        synthesizer,
        voxa,
        sse,
        eventsOf({ finish_reason: 'null', audio: audio(long) }, { ...done, audio: audio(long, fileUrl) }),
      ],
      ['a multimodal response', multimodal, alpha, {}, whole(done)],
      ['multimodal events', multimodal, alpha, sse, eventsOf(...events)],
      [
        'standard events',
        '/v1/audio/speech',
        { model: 'voxa-v3-flash', input: 'Hello', voice: 'voxanna', stream: true, stream_format: 'sse' },
        {},
        eventsOf(...events),
      ],
      [
        'a beta response',
        multimodal,
        beta,
        {},
        whole({ ...good, data: { audio: fileUrl, status: 2, subtitle_file: fileUrl } }),
      ],
      [
        'beta events',
        multimodal,
        beta,
        sse,
        eventsOf(
          { ...good, data: { audio: '414243', status: 1 } },
          { ...good, data: { audio: '', status: 2, subtitle_file: fileUrl } },
        ),
      ],
      [
        'a cloned voice',
        multimodal,
        { ...clone, input: { ...clone.input, voice_id: `voice-${relayMedia}` } },
        {},
        whole({ ...good, demo_audio: fileUrl }),
      ],
      [
        'a new voice',
        customization,
        { model: 'voice-enrollment', input: enroll },
        {},
        whole({ voice_id: `voxa-${relayMedia}`, preview_audio: { url: fileUrl } }),
      ],
      [
        'a query of a voice',
        customization,
        { model: 'voice-enrollment', input: { action: 'query_voice', voice_id: `old-${relayMedia}` } },
        {},
        whole({ status: 'OK', resource_link: fileUrl }),
      ],
    ])('%s', async (_what, path, body, headers, providerResponse) => {
      reply = providerResponse;
      const response = await post(target.url, target.key, path, body, { headers });
      const text = await response.text();
      expect(response.status, text.slice(0, 500)).toBe(200);
      expectLinks(text, host);
      // The rest of the response is unchanged, except the charge in the last event.
      const uncharged = text.replace(/,"cost":\d+(?=\}\}\n\n$)/, '');
      const links = uncharged.replaceAll(/https:\/\/gateway\.example\/v1\/files\/[^"]+/g, fileUrl);
      if (!path.endsWith('customization')) expect(links === providerResponse[1]).toBe(true);
    });

    const custom = async (input: object, output: object) => {
      reply = whole(output);
      const body = { model: 'voice-enrollment', input };
      const response = await post(target.url, target.key, customization, body);
      return (JSON.parse(await response.text()) as { output: Record<string, unknown> }).output;
    };

    test('URLs that the client sent are returned unchanged, also later', async () => {
      const own = enroll.url;
      const voice_id = `own-${relayMedia}`;
      expect(await custom(enroll, { voice_id, source: own })).toMatchObject({ source: own });
      const query = { action: 'query_voice', voice_id };
      const output = { status: 'OK', resource_link: own };
      expect(await custom(query, output)).toMatchObject({ resource_link: own });
      const list = await custom({ action: 'list_voice' }, {});
      expect(JSON.stringify(list)).not.toContain(own);
    });

    test('a link that the client sent is returned unchanged, while the provider gets its own URL', async () => {
      const owner = { channel: 'native', userId: 1, expiresAt: null };
      const url = target.gateway.files.linksFor(publicUrl).publicUrl(fileUrl, owner);
      const voice_id = `linked-${relayMedia}`;
      const sent = () => (upstream.seen.at(-1)?.body as { input: { url: string } } | undefined)?.input.url;
      const query = { action: 'query_voice', voice_id };
      await custom({ ...enroll, url }, { voice_id });
      expect(sent()).toBe(fileUrl);
      expect(await custom(query, { status: 'OK', resource_link: fileUrl })).toMatchObject({
        resource_link: url,
      });
      const other = 'https://x.example/b.wav';
      await custom({ action: 'update_voice', voice_id, url: other }, {});
      expect(await custom(query, { status: 'OK', resource_link: other })).toMatchObject({
        resource_link: other,
      });
    });
  });
});

interface Made {
  id?: string;
  output?: { task_id: string };
  data?: { Id: string };
}
