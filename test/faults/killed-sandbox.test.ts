import { expect, test, vi } from 'vitest';
import { createDeployment, type Deployment } from './deployment.ts';
import { GatewayProcess } from './gateway-process.ts';

const videos = '/v1/videos';
const video = { model: 'gamma3.0-video', prompt: 'A kite.', seconds: '2', size: '480p' };
const native = {
  model: 'gamma3.0-video',
  input: { prompt: 'A boat.' },
  parameters: { resolution: '480P', duration: 2 },
};
const sentence = 'This is the recording of a voice. It lasts some seconds, so that there is enough to hear.';
const wait = { timeout: 60_000, interval: 50 };

test('the default setup has every task, file, asset and voice after a kill and a restart', {
  timeout: 240_000,
}, async () => {
  const deployment = await createDeployment('sqlite');
  // Without a configuration, the embedded sandbox is the only upstream.
  const options = { ...deployment.options, config: '' };
  try {
    const first = await GatewayProcess.start(options);
    const client = new ApiClient(deployment, first.url);
    const done = await client.create(videos, video);
    const link = await client.nativeVideo();
    const voice = await client.clone();
    const asset = await client.upload(link);
    await client.completed(done);
    const running = await client.create(videos, video);
    first.kill();
    await first.waitForKill();

    const second = await GatewayProcess.start(options);
    client.url = second.url;
    await client.completed(running);
    for (const id of [done, running]) expect(await client.download(`${videos}/${id}/content`)).toBe('ftyp');
    // The gateway has another port now. The rest of the link is unchanged.
    expect((await fetch(link.replace(first.url, second.url))).status).toBe(200);
    const { URL: file } = await client.active(asset);
    expect((await fetch(file)).status).toBe(200);
    expect(await client.speak(voice.model, voice.id)).toMatchObject({ status: 200 });
    second.kill();
    await second.waitForKill();
  } finally {
    await deployment.remove();
  }
});

/** A client with the key of the deployment. */
class ApiClient {
  url: string;
  readonly #key: string;

  constructor({ key }: Deployment, url: string) {
    this.#key = key;
    this.url = url;
  }

  /** Creates a task. Returns its id. */
  async create(path: string, body: object): Promise<string> {
    return (await this.#json<{ id: string }>(path, body)).id;
  }

  async completed(id: string): Promise<void> {
    const state = () => this.#json<{ status: string }>(`${videos}/${id}`);
    await vi.waitFor(async () => expect(await state()).toMatchObject({ status: 'completed' }), wait);
  }

  /** Creates a video. Returns its URL at the sandbox. */
  async nativeVideo(): Promise<string> {
    type Task = { output: { task_id: string; task_status: string; video_url: string } };
    const path = '/api/v1/services/aigc/video-generation/video-synthesis';
    const { output } = await this.#json<Task>(path, native, { 'x-native-async': 'enable' });
    return await vi.waitFor(async () => {
      const { output: task } = await this.#json<Task>(`/api/v1/tasks/${output.task_id}`);
      expect(task).toMatchObject({ task_status: 'SUCCEEDED' });
      return task.video_url;
    }, wait);
  }

  async clone(): Promise<{ model: string; id: string }> {
    const model = 'alpha3-tts-vc-2026-01-22';
    const speech = await this.speak('alpha3-tts-flash', 'Aria');
    const audio = Buffer.from(await speech.arrayBuffer());
    const input = {
      action: 'create',
      target_model: model,
      preferred_name: 'me',
      audio: { data: `data:audio/wav;base64,${audio.toString('base64')}` },
    };
    const path = '/api/v1/services/audio/tts/customization';
    const body = { model: 'alpha-voice-enrollment', input };
    const { output } = await this.#json<{ output: { voice: string } }>(path, body);
    return { model, id: output.voice };
  }

  speak(model: string, voice: string): Promise<Response> {
    return this.#send('/v1/audio/speech', { model, voice, input: sentence });
  }

  /** Uploads a video as an asset. Returns its id. */
  async upload(url: string): Promise<string> {
    const body = { url, asset_type: 'Video' };
    const { data } = await this.#json<{ data: { Id: string } }>('/api/assets/upload', body);
    await this.active(data.Id);
    return data.Id;
  }

  async active(asset: string): Promise<{ URL: string }> {
    return await vi.waitFor(async () => {
      const { data } = await this.#json<{ data: { URL: string } }>(`/api/assets/${asset}`);
      expect(data).toMatchObject({ Status: 'Active' });
      return data;
    }, wait);
  }

  /** Returns the box type at the start of a video file. */
  async download(path: string): Promise<string> {
    const response = await this.#send(path);
    expect(response.status).toBe(200);
    return Buffer.from(await response.arrayBuffer()).toString('latin1', 4, 8);
  }

  async #json<Body>(path: string, body?: object, more?: object): Promise<Body> {
    const response = await this.#send(path, body, more);
    const text = await response.text();
    expect(response.status, text).toBe(200);
    return JSON.parse(text) as Body;
  }

  #send(path: string, body?: object, more?: object): Promise<Response> {
    return fetch(this.url + path, {
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json', ...more },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
  }
}
