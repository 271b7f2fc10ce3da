import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasSignature } from '../conformance/wire/media-signatures.ts';
import { post } from '../server/ledger.ts';
import { createOtherUser } from '../support/custom-voices.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { GenericClient } from '../video/generic-client.ts';
import { model3dPath, submit, videoPath, waitForFinal } from '../video/native-client.ts';

const seedance = {
  model: 'epsilon-delta-2-0-260128',
  prompt: 'A paper boat.',
  seconds: '4',
  size: '480p',
  metadata: { return_last_frame: true },
};
/** The smallest video, which renders fastest. */
const small = { resolution: '480P', duration: 2 };
const official = '/api/v3/contents/generations/tasks';

let target: TestGateway;
let client: GenericClient;
let provider: string;
/** A completed Seedance video with its last frame. */
let boat: Awaited<ReturnType<GenericClient['waitForStatus']>>;
beforeAll(async () => {
  target = await startTestGateway({ sandboxTaskMs: 50, sandboxDraft: false });
  client = new GenericClient(target);
  provider = new URL(target.gateway.channels.named('sandbox')?.settings.baseUrl ?? '').host;
  boat = await client.waitForStatus((await client.create(seedance)).id, 'completed');
});
afterAll(() => target.close());

/** Collects all links in a response and checks that none shows the provider. */
function linksIn(answer: unknown): string[] {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  expect(text).not.toContain(provider);
  const links = text.match(/https?:[^\s"\\]+/g) ?? [];
  for (const link of links) expect(new URL(link).origin).toBe(target.url);
  return links.filter((link) => !link.endsWith('/content'));
}

/** Loads a file like a web page, without a key. */
async function load(link: string | undefined, mediaType: string): Promise<Buffer> {
  const response = await fetch(link ?? '', { headers: { origin: 'https://page.example' } });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, mediaType]);
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  expect(response.headers.get('cache-control')).toBe('private');
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(hasSignature(mediaType, bytes)).toBe(true);
  return bytes;
}

const speak = async (path: string, body: object, headers = {}) =>
  (await post(target.url, target.key, path, body, { headers })).text();

const synthesizer = '/api/v1/services/audio/tts/SpeechSynthesizer';
const multimodal = '/api/v1/services/aigc/multimodal-generation/generation';
const events = { 'x-native-sse': 'enable' };
const voxa = { model: 'voxa-v3-flash', input: { text: 'Good morning.', voice: 'voxanna', format: 'wav' } };
const alpha = { model: 'alpha3-tts-flash', input: { text: 'Good morning.', voice: 'Aria' } };

describe('in the default installation, files have links of the gateway', { timeout: 60_000 }, () => {
  test('in the generic object, its list and the family record', async () => {
    const family = (await client.create(seedance, '/v1/video/generations')).id;
    const task = boat;
    const { id } = task;
    const links = [task.url, task.video_url, task.output?.[0]?.url];
    expect(new Set(links).size).toBe(1);
    expect(new Set(linksIn(task)).size).toBe(2);
    expect(linksIn(await client.get(id))).toEqual(linksIn(task));
    expect((await client.call<{ data: unknown }>('GET', '/v1/videos')).body.data).toContainEqual(task);
    await load(task.video_url, 'video/mp4');
    await load(task.metadata?.last_frame_url, 'image/png');
    const record = await ended<{ data: { result_url: string } }>(
      `/v1/video/generations/${family}`,
      'SUCCESS',
    );
    expect(new Set(linksIn(record)).size).toBe(2);
    await load(record.data.result_url, 'video/mp4');
  });

  test('in the official object and its list', async () => {
    const { prompt, model } = seedance;
    const request = {
      model,
      content: [{ type: 'text', text: prompt }],
      duration: 4,
      resolution: '480p',
      return_last_frame: true,
    };
    const { id } = (await client.call<{ id: string }>('POST', official, request)).body;
    const task = await ended<{ content: Record<string, string> }>(`${official}/${id}`, 'succeeded');
    expect(linksIn(task)).toHaveLength(4);
    expect(linksIn((await client.call('GET', official)).body)).toEqual(expect.arrayContaining(linksIn(task)));
    await load(task.content.video_url, 'video/mp4');
    await load(task.content.last_frame_url, 'image/png');
  });

  test('in native video and 3D tasks', async () => {
    const video = {
      model: 'gamma3.0-video',
      input: { prompt: 'A paper boat.' },
      parameters: small,
    };
    const object = { model: 'theta-3d', input: { prompt: 'A chair.' } };
    const [made, formed] = await Promise.all(
      [submit(target, videoPath, video), submit(target, model3dPath, object)].map(async (id) =>
        waitForFinal(target, await id),
      ),
    );
    expect(linksIn(made)).toHaveLength(1);
    await load(made?.output.video_url, 'video/mp4');
    const { pbr_model_url, base_model_url, rendered_image_url } = formed?.output.results ?? {};
    expect(linksIn(formed).length).toBeGreaterThan(1);
    await load(pbr_model_url ?? base_model_url, 'model/gltf-binary');
    await load(rendered_image_url, 'image/webp');
    const generic = await client.create({
      model: 'gamma3.0-video',
      prompt: 'A boat.',
      seconds: '2',
      size: '480p',
    });
    const { metadata, video_url } = await client.waitForStatus(generic.id, 'completed');
    expect(metadata?.url).toBe(video_url);
    linksIn({ metadata, video_url });
  });

  test.each([
    ['a synthesizer answer', synthesizer, voxa, {}],
    ['synthesizer events', synthesizer, voxa, events],
    ['a multimodal answer', multimodal, alpha, {}],
    ['multimodal events', multimodal, alpha, events],
    [
      'standard events',
      '/v1/audio/speech',
      {
        model: voxa.model,
        input: 'Good morning.',
        voice: 'voxanna',
        response_format: 'wav',
        stream: true,
        stream_format: 'sse',
      },
      {},
    ],
  ] as const)('in %s', async (_what, path, body, headers) => {
    const links = linksIn(await speak(path, body, headers));
    expect(links).toHaveLength(1);
    await load(links[0], 'audio/wav');
  });

  test('in an image job', async () => {
    const { body } = await client.call<{ result: string }>('POST', '/imgjob/submit/imagine', {
      prompt: 'a harbour',
    });
    const job = await ended<{ imageUrl: string }>(`/imgjob/task/${body.result}/fetch`, 'SUCCESS');
    expect(linksIn(job)).toEqual([job.imageUrl]);
    await load(job.imageUrl, 'image/png');
  });

  test('in the clips of a music task, their feed and a WAV', async () => {
    const requested = { prompt: 'A slow song about rain.', mv: 'chirp-hawk' };
    const { body } = await client.call<{ data: string }>('POST', '/sigma/submit/music', requested);
    const { data } = await ended<{ data: { data: Song[] } }>(`/sigma/fetch/${body.data}`, 'SUCCESS');
    const [song] = data.data;
    expect(linksIn(data.data).length).toBeGreaterThan(3);
    await load(song?.audio_url, 'audio/mpeg');
    await load(song?.image_url, 'image/png');
    expect(linksIn((await client.call('GET', `/sigma/feed/${song?.id}`)).body).length).toBeGreaterThan(1);
    const wav = await client.call<{ wav_file_url: string }>('GET', `/sigma/act/wav/${song?.id}`);
    expect(linksIn(wav.body)).toEqual([wav.body.wav_file_url]);
    await load(wav.body.wav_file_url, 'audio/wav');
  });

  test('in a beta response: the audio and its subtitles', async () => {
    const input = {
      text: 'Good morning.',
      voice_setting: { voice_id: 'beta_male_deep' },
      output_format: 'url',
      subtitle_enable: true,
    };
    const answer = await speak(multimodal, { model: 'beta/speech-2.8-hd', input });
    const { audio, subtitle_file } = (JSON.parse(answer) as BetaAnswer).output.data;
    expect(linksIn(answer)).toEqual([audio, subtitle_file]);
    await load(audio, 'audio/mpeg');
    expect(subtitle_file).toMatch(/\/file\.json$/);
    const subtitles = await fetch(subtitle_file);
    expect(subtitles.headers.get('content-type')).toBe('application/octet-stream');
    expect(await subtitles.json()).toMatchObject([{ text: expect.any(String) }]);
  });
});

describe('a link used as an input', { timeout: 60_000 }, () => {
  let frame = '';
  let video = '';
  beforeAll(() => {
    frame = boat.metadata?.last_frame_url ?? '';
    video = boat.video_url ?? '';
  });

  test.each([
    ['Seedance', { ...seedance, image: () => frame }],
    [
      'gamma',
      { model: 'gamma3.0-video', prompt: 'On it goes.', seconds: '2', size: '480p', image: () => frame },
    ],
    [
      'eta',
      {
        model: 'eta-imagine-video',
        prompt: 'On it goes.',
        seconds: '1',
        resolution: '480p',
        image: () => frame,
      },
    ],
    [
      'eta as a video',
      { model: 'eta-imagine-video', prompt: 'As a cartoon.', video: () => ({ url: video }) },
    ],
  ])('makes a %s video, also of another family', async (_what, request) => {
    const body = Object.fromEntries(
      Object.entries(request).map(([name, value]) => [name, typeof value === 'function' ? value() : value]),
    );
    const { id } = await client.create(body);
    linksIn(await client.waitForStatus(id, 'completed'));
  });

  test('is the first frame on the native and the official route', async () => {
    const media = [{ type: 'first_frame', url: frame }];
    const native = {
      model: 'gamma3.0-video',
      input: { prompt: 'On it goes.', media },
      parameters: small,
    };
    expect((await waitForFinal(target, await submit(target, videoPath, native))).output.task_status).toBe(
      'SUCCEEDED',
    );
    const content = [
      { type: 'text', text: 'On it goes.' },
      { type: 'image_url', image_url: { url: frame }, role: 'first_frame' },
    ];
    const request = { model: seedance.model, content, duration: 4, resolution: '480p' };
    const { id } = (await client.call<{ id: string }>('POST', official, request)).body;
    await ended(`${official}/${id}`, 'succeeded');
  });

  test('makes an asset, which has its own link', async () => {
    const upload = { url: frame, asset_type: 'Image' };
    const { body } = await client.call<{ data: { Id: string } }>('POST', '/api/assets/upload', upload);
    const asset = await ended<{ data: { URL: string } }>(`/api/assets/${body.data.Id}`, 'Active');
    expect(linksIn(asset)).toEqual([asset.data.URL]);
    await load(asset.data.URL, 'image/png');
  });

  test('clones a voice, whose demo has a link', async () => {
    const text = 'Every morning the same train leaves the same platform at the very same minute. '.repeat(4);
    const spoken = await speak(synthesizer, { ...voxa, input: { ...voxa.input, text } });
    const [recording = ''] = linksIn(spoken);
    const input = {
      action: 'voice_clone',
      voice_id: 'narrator-of-links',
      text: 'Hello.',
      audio_url: recording,
    };
    const cloned = await speak(multimodal, { model: 'beta/speech-2.8-hd', input });
    await load(linksIn(cloned)[0], 'audio/mpeg');
    const create = {
      action: 'create_voice',
      target_model: 'voxa-v3.5-flash',
      prefix: 'links',
      url: recording,
    };
    const customization = '/api/v1/services/audio/tts/customization';
    const made = await speak(customization, { model: 'voice-enrollment', input: create });
    const { voice_id } = (JSON.parse(made) as { output: { voice_id: string } }).output;
    const query = { action: 'query_voice', voice_id };
    expect(linksIn(await speak(customization, { model: 'voice-enrollment', input: query }))).toHaveLength(1);
  });

  test('is not replaced for another user', async () => {
    const { key } = await createOtherUser(target.gateway);
    const stranger = new GenericClient({ url: target.url, key });
    const { id } = await stranger.create({ ...seedance, image: frame });
    const { error } = await stranger.waitForStatus(id, 'failed');
    expect(error).toMatchObject({ code: expect.stringContaining('Invalid') });
    // Anyone with the link can still load it.
    await load(frame, 'image/png');
  });
});

interface Song {
  id: string;
  audio_url: string;
  image_url: string;
}

interface BetaAnswer {
  output: { data: { audio: string; subtitle_file: string } };
}

/** Polls until the task has the given status. */
async function ended<Body>(path: string, status: string): Promise<Body> {
  let body: unknown;
  await expect
    .poll(
      async () => {
        body = (await client.call('GET', path)).body;
        return JSON.stringify(body);
      },
      { timeout: 15_000, interval: 100 },
    )
    .toMatch(new RegExp(`"status":"${status}"`, 'i'));
  return body as Body;
}
