import { type InspectedAudio, inspectPcm, inspectWav } from './audio-inspection.ts';
import { InferenceClient } from './inference-client.ts';
import { RealtimeClient } from './realtime-client.ts';
import { multimodalPath, type SandboxClient, synthesizerPath } from './sandbox-client.ts';

export const customizationPath = '/api/v1/services/audio/tts/customization';
export const spokenText =
  'Please remember that the voyage begins tomorrow morning, long before the sun is up.';
const promptText = `My name is on the list. ${spokenText} ${spokenText}`;

export interface VoiceReply {
  status: number;
  request_id: string;
  code?: string;
  message?: string;
  output: Record<string, unknown> & {
    voice_id: string;
    voice: string;
    status: string;
    voice_list: Record<string, unknown>[];
    preview_audio: { data: string; sample_rate: number; response_format: string };
  };
  usage: { count: number };
}

/** Creates recordings and custom voices, and synthesizes with them. */
export class VoiceClient {
  readonly #client: SandboxClient;
  readonly #recordings = new Map<string, Promise<string>>();

  constructor(client: SandboxClient) {
    this.#client = client;
  }

  async post(model: string, input: object, parameters?: object): Promise<VoiceReply> {
    const response = await this.#client.post(customizationPath, { model, input, parameters });
    return { status: response.status, ...((await response.json()) as Omit<VoiceReply, 'status'>) };
  }

  /** Like `post`, but requires success. */
  async act(model: string, input: object, parameters?: object): Promise<VoiceReply> {
    const reply = await this.post(model, input, parameters);
    if (reply.status !== 200) throw new Error(JSON.stringify(reply));
    return reply;
  }

  /** Returns the URL of a recording of about 11 seconds with a system voice. */
  async record(voice: string, options: object = {}): Promise<string> {
    const input = { text: promptText, voice, format: 'wav', sample_rate: 16000, ...options };
    const key = JSON.stringify(input);
    const recording = this.#recordings.get(key) ?? this.#record(input);
    this.#recordings.set(key, recording);
    return await recording;
  }

  async #record(input: object): Promise<string> {
    const { reply } = await this.#client.speak(synthesizerPath, { model: 'voxa-v2', input });
    return reply.output.audio.url;
  }

  /** Returns the recording as a file. */
  async recordFile(voice: string, options: object = {}): Promise<Buffer> {
    return Buffer.from(await (await fetch(await this.record(voice, options))).arrayBuffer());
  }

  async synthesize(model: string, voice: string, text = spokenText): Promise<InspectedAudio> {
    const input = { text, voice, format: 'wav', sample_rate: 24000 };
    return inspectWav((await this.#client.speak(synthesizerPath, { model, input })).file);
  }

  async generate(model: string, voice: string): Promise<InspectedAudio> {
    const input = { text: spokenText, voice };
    return inspectWav((await this.#client.speak(multimodalPath, { model, input })).file);
  }

  async realtime(model: string, voice: string): Promise<InspectedAudio> {
    const socket = new RealtimeClient(this.#client.sandbox, model);
    await socket.configure({ voice });
    const [response] = await socket.speakAll(spokenText);
    return inspectPcm(response?.audio ?? Buffer.alloc(0), 24000);
  }

  async duplex(model: string, voice: string): Promise<InspectedAudio> {
    const socket = new InferenceClient(this.#client.sandbox);
    const parameters = { format: 'pcm', sample_rate: 24000, voice };
    const { audio } = await socket.speak(crypto.randomUUID(), parameters, [spokenText], { model });
    socket.socket.close();
    return inspectPcm(audio, 24000);
  }

  /** Returns the error of an HTTP synthesis. */
  async synthesisError(
    path: string,
    model: string,
    voice: string,
  ): Promise<{ status: number; message: string }> {
    const response = await this.#client.post(path, { model, input: { text: 'Hi.', voice } });
    return { status: response.status, message: ((await response.json()) as { message: string }).message };
  }
}
