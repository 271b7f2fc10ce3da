import type { NativeError, SpeechStreamServerEvent } from '../generated/events.ts';
import type { components } from '../generated/http.ts';
import { BinaryResponse } from './binary-response.ts';
import type { Caller, CallOptions } from './call.ts';
import { EventStream } from './event-stream.ts';
import type { WithModelOf } from './model-ids.ts';

type Schemas = components['schemas'];
export type SpeechRequest = WithModelOf<Schemas['SpeechRequest'], 'synthesizer' | 'multimodal' | 'inference'>;
export type SynthesizerRequest = WithModelOf<Schemas['SynthesizerRequest'], 'synthesizer'>;
export type MultimodalSpeechRequest = WithModelOf<Schemas['MultimodalSpeechRequest'], 'multimodal'>;
export type NativeSpeechReply = Schemas['NativeSpeechReply'];
export type BetaSpeechReply = Schemas['BetaSpeechReply'];

/** A native event with audio and timestamps, and the usage in the last event. Error events are thrown. */
export type SpeechEvent = Exclude<SpeechStreamServerEvent, NativeError>;

/** Speech over HTTP. */
export class Speech {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Synthesizes speech. With `stream: true` the audio arrives while it is generated, and `timeout` applies until the headers
   * arrive. `POST /v1/audio/speech`
   */
  async create(
    body: SpeechRequest & { stream_format?: 'audio' },
    options: CallOptions = {},
  ): Promise<SpeechAudio> {
    const timing = { timeoutCovers: body.stream ? 'headers' : 'body' };
    const init = { ...options, ...timing, body, parseAs: 'stream' } as const;
    return new SpeechAudio((await this.#caller.callWithResponse('createSpeech', init)).response);
  }

  /** Synthesizes speech and streams the provider's events. `POST /v1/audio/speech` with `stream_format: sse` */
  events(
    body: Omit<SpeechRequest, 'stream' | 'stream_format'>,
    options: CallOptions = {},
  ): EventStream<SpeechEvent> {
    const request = { ...body, stream: true, stream_format: 'sse' as const };
    const init = { ...options, body: request, parseAs: 'stream' } as const;
    return new EventStream(async () => (await this.#caller.callWithResponse('createSpeech', init)).response);
  }

  /**
   * Synthesizes speech with a voxa or alpha-audio model on its native route. Returns the URL of the audio.
   * `POST /api/v1/services/audio/tts/SpeechSynthesizer`
   */
  synthesize(body: SynthesizerRequest, options: CallOptions = {}): Promise<NativeSpeechReply> {
    return this.#caller.call('synthesizeSpeech', { ...options, body });
  }

  /** Streams `synthesize` as events, with `X-Native-SSE: enable`. */
  synthesizeEvents(body: SynthesizerRequest, options: CallOptions = {}): EventStream<SpeechEvent> {
    const init = { ...options, ...asStream, body };
    return new EventStream(
      async () => (await this.#caller.callWithResponse('synthesizeSpeech', init)).response,
    );
  }

  /**
   * Synthesizes speech with an alpha or beta model on its native route. Alpha models return the URL of a WAV, beta models
   * hexadecimal audio. `POST /api/v1/services/aigc/multimodal-generation/generation`
   */
  multimodal(
    body: MultimodalSpeechRequest,
    options: CallOptions = {},
  ): Promise<NativeSpeechReply | BetaSpeechReply> {
    return this.#caller.call('generateMultimodalSpeech', { ...options, body });
  }

  /** Streams `multimodal` as events, with `X-Native-SSE: enable`. */
  multimodalEvents(body: MultimodalSpeechRequest, options: CallOptions = {}): EventStream<SpeechEvent> {
    const init = { ...options, ...asStream, body };
    const open = () => this.#caller.callWithResponse('generateMultimodalSpeech', init);
    return new EventStream(async () => (await open()).response);
  }
}

const asStream = { params: { header: { 'X-Native-SSE': 'enable' } }, parseAs: 'stream' } as const;

/** Synthesized speech. */
export class SpeechAudio extends BinaryResponse {}
