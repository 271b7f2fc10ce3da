import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SentUrls, wasSent } from '../../server/media/sent-urls.ts';
import { post } from '../server/ledger.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';

/** Spellings of the same URL, by its origin. */
const spellings: readonly (readonly [string, (base: string) => string])[] = [
  ['as it was sent', (base) => `${base}/secret.wav`],
  ['in upper case', (base) => `${base.replace('http', 'HTTP')}/secret.wav`],
  ['with escapes', (base) => `${base}/%73ecre%74.wav`],
  ['with dots in its path', (base) => `${base}/other/../secret.wav`],
  ['with the host as a number', (base) => `${base.replace('127.0.0.1', '2130706433')}/secret.wav`],
  ['with a user', (base) => `${base.replace('//', '//user:word@')}/secret.wav`],
  ['with a query', (base) => `${base}/secret.wav?signature=1`],
  ['with a fragment', (base) => `${base}/secret.wav#part`],
];

describe('URLs that a client sent', () => {
  const sent = 'http://127.0.0.1:81/secret.wav';
  test.each(spellings)('are recognized %s', (_, spell) => {
    const spelled = spell('http://127.0.0.1:81');
    for (const [one, other] of [[sent, spelled] as const, [spelled, sent] as const]) {
      const urls = new SentUrls({ input: { media: [{ url: one }] } });
      expect(urls.has(other)).toBe(true);
      expect(wasSent(other, urls.hashes())).toBe(true);
    }
  });

  test('are found in texts but not in inline media', () => {
    expect(new SentUrls(`Look at (${sent} now`).has(sent)).toBe(true);
    expect(new SentUrls(`data:text/plain,${sent}`).has(sent)).toBe(false);
  });

  test('do not match other URLs', () => {
    const urls = new SentUrls([sent], undefined, null, 7);
    for (const other of [
      'http://127.0.0.1:82/secret.wav',
      'http://127.0.0.1:81/',
      'https://127.0.0.1:81/secret.wav',
    ])
      expect([urls.has(other), wasSent(other, urls.hashes())]).toEqual([false, false]);
    expect(wasSent(sent, undefined)).toBe(false);
  });

  test('match every URL when a request has more than 200', () => {
    const many = Array.from({ length: 201 }, (_, at) => `https://x.example/${at}`);
    expect(wasSent(sent, new SentUrls(many).hashes())).toBe(true);
    expect(new SentUrls(many).hashes().join('').length).toBeLessThan(100);
  });
});

describe('a provider that returns a URL of the client', () => {
  let secret: RecordingUpstream;
  let upstream: RecordingUpstream;
  let target: TestGateway;
  /** URL that the provider returns for its file. */
  let returnedUrl = '';
  const ownFile = () => `${upstream.url}/made.wav`;
  beforeAll(async () => {
    secret = await startUpstream((_, response) => {
      response.writeHead(200, { 'content-type': 'audio/wav' }).end('the secret');
    });
    upstream = await startUpstream(({ path, method }, response) => {
      if (path.startsWith('/made')) {
        response.writeHead(200, { 'content-type': 'audio/wav' }).end('the file');
        return;
      }
      if (path.startsWith('/moved')) {
        response.writeHead(302, { location: `${secret.url}/secret.wav` }).end();
        return;
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(bodyFor(path, method)));
    });
    target = await startTestGateway({
      sandbox: false,
      channels: ['native', 'official'].map((protocol) =>
        channelTo(upstream.url, {
          name: protocol,
          protocol: protocol as 'native' | 'official',
          relayMedia: true,
          privateFiles: true,
        }),
      ),
    });
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
    await secret.close();
  });

  function bodyFor(path: string, method: string): object {
    if (path.includes('/assets/'))
      return method === 'POST'
        ? { code: 0, data: { Id: 'asset-upstream' } }
        : { code: 0, data: { Id: 'asset-upstream', Status: 'Active', URL: returnedUrl } };
    if (path.includes('video-synthesis'))
      return { output: { task_id: 't', task_status: 'PENDING' }, request_id: 'r' };
    if (path.includes('/tasks/'))
      return { output: { task_id: 't', task_status: 'SUCCEEDED', video_url: returnedUrl }, request_id: 'r' };
    if (path.includes('SpeechSynthesizer')) {
      const audio = { url: returnedUrl, data: '', id: 'a', expires_at: 1_925_000_000 };
      return { request_id: 'r', output: { finish_reason: 'stop', audio }, usage: { characters: 2 } };
    }
    const file = { url: returnedUrl };
    const output = { voice_id: 'voice-1', status: 'OK', audio: returnedUrl, preview_audio: file, ...file };
    return { request_id: 'r', output, usage: { count: 1, characters: 2 } };
  }

  /** Loads all links to the gateway in a response. */
  const filesIn = async (text: string): Promise<string[]> => {
    const links = text.match(new RegExp(`${target.url}/[^"]+`, 'g')) ?? [];
    return Promise.all(links.map(async (link) => (await fetch(link)).text()));
  };
  const get = async (path: string) => {
    const response = await fetch(target.url + path, { headers: { authorization: `Bearer ${target.key}` } });
    return response.text();
  };
  const send = async (path: string, body: object) => (await post(target.url, target.key, path, body)).text();

  const customization = '/api/v1/services/audio/tts/customization';
  const enroll = (url: string) => ({
    model: 'voice-enrollment',
    input: { action: 'create_voice', target_model: 'voxa-v3.5-flash', prefix: 'a', url },
  });
  const video = async (path: string, body: object): Promise<string> => {
    const made = JSON.parse(await send(path, body)) as { id?: string; output?: { task_id: string } };
    return made.id ?? made.output?.task_id ?? '';
  };
  const completed = async (path: string): Promise<string> => {
    let text = '';
    await expect.poll(async () => (text = await get(path))).toMatch(/SUCCEEDED|"completed"/);
    return text;
  };
  const native = '/api/v1/services/aigc/video-generation/video-synthesis';
  const withFrame = (url: string) => ({
    model: 'gamma3.0-video',
    input: { media: [{ type: 'first_frame', url }] },
  });

  test('serves its own files from a private network', async () => {
    returnedUrl = ownFile();
    const speech = { model: 'voxa-v3-flash', input: { text: 'Hi', voice: 'voxanna' } };
    const spoken = await send('/api/v1/services/audio/tts/SpeechSynthesizer', speech);
    expect(await filesIn(spoken)).toEqual(['the file']);
    const id = await video(native, withFrame('https://x.example/a.png'));
    expect(await filesIn(await completed(`/api/v1/tasks/${id}`))).toEqual(['the file']);
    const asset = { url: 'https://x.example/a.png', asset_type: 'Image' };
    const { data } = JSON.parse(await send('/api/assets/upload', asset)) as { data: { Id: string } };
    expect(await filesIn(await get(`/api/assets/${data.Id}`))).toEqual(['the file']);
  });

  test.each(spellings)('does not load it from a private network in a task, %s', async (_, spell) => {
    returnedUrl = `${secret.url}/secret.wav`;
    const id = await video(native, withFrame(spell(secret.url)));
    const shown = await completed(`/api/v1/tasks/${id}`);
    for (const file of await filesIn(shown)) expect(file).toContain('cannot be fetched');
    const generic = await video('/v1/videos', {
      model: 'gamma3.0-video',
      prompt: 'A boat.',
      image: spell(secret.url),
    });
    await completed(`/v1/videos/${generic}`);
    expect(await get(`/v1/videos/${generic}/content`)).toContain('cannot be fetched');
    expect(secret.seen).toEqual([]);
  });

  test.each(spellings)(
    'does not load it from a private network in a voice response, %s',
    async (_, spell) => {
      returnedUrl = `${secret.url}/secret.wav`;
      const created = await send(customization, enroll(spell(secret.url)));
      expect(await filesIn(created)).toEqual([]);
      expect(created).toContain(returnedUrl);
      // A query does not make files, so no URL in its response may lead into a private network.
      for (const url of [returnedUrl, `${secret.url}/other.wav`]) {
        returnedUrl = url;
        const query = { model: 'voice-enrollment', input: { action: 'query_voice', voice_id: 'voice-1' } };
        for (const file of await filesIn(await send(customization, query)))
          expect(file).toContain('cannot be fetched');
      }
      await send(customization, {
        model: 'voice-enrollment',
        input: { action: 'delete_voice', voice_id: 'voice-1' },
      });
      expect(secret.seen).toEqual([]);
    },
  );

  test('does not load it from a private network in an asset', async () => {
    returnedUrl = `${secret.url}/secret.wav`;
    const { data } = JSON.parse(
      await send('/api/assets/upload', { url: returnedUrl, asset_type: 'Image' }),
    ) as {
      data: { Id: string };
    };
    const files = await filesIn(await get(`/api/assets/${data.Id}`));
    expect(files).toEqual([expect.stringContaining('cannot be fetched')]);
    expect(secret.seen).toEqual([]);
  });

  test('does not follow its redirect into a private network', async () => {
    returnedUrl = `${upstream.url}/moved.wav`;
    const id = await video(native, withFrame(returnedUrl));
    const files = await filesIn(await completed(`/api/v1/tasks/${id}`));
    expect(files).toEqual([expect.stringContaining('cannot be fetched')]);
    expect(secret.seen).toEqual([]);
  });
});
