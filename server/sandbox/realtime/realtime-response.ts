import type { Meter } from '../billing.ts';
import { internalError, NativeError } from '../http/native-error.ts';
import { utteranceFromSentence } from '../native/speech.ts';
import { splitText } from '../sentences.ts';
import type { SpeechEngine } from '../speech/engine.ts';
import { convertEngineError, rejectOnAbort } from '../triggered-errors.ts';
import type { Triggers } from '../triggers.ts';
import { newId, type RealtimeChannel } from './realtime-channel.ts';
import type { SessionOptions } from './session-options.ts';

type ResponseStatus = 'completed' | 'incomplete' | 'failed';

interface ResponseContext {
  channel: RealtimeChannel;
  engine: SpeechEngine;
  options: SessionOptions;
  triggers: Triggers;
  /** Usage of the synthesis. */
  meter: Meter;
  usage: (meter: Meter) => object;
}

const brokenJson = '{"type":"response.audio.delta","delta":"';
const invalidEvent = '{"type":"response.audio.delta"}';

/** One synthesis from `response.created` to `response.done`, sentence by sentence. */
export class RealtimeResponse {
  readonly #context: ResponseContext;
  readonly #text: string;
  readonly #responseId = newId('resp');
  readonly #itemId = newId('item');
  readonly #canceled = new AbortController();

  constructor(text: string, context: ResponseContext) {
    this.#text = text;
    this.#context = context;
  }

  /** Ends the response as incomplete. */
  cancel(): void {
    this.#canceled.abort(new Error('The response was canceled'));
  }

  /** Runs the synthesis. Rejects if the client disconnects, or with an internal error after the `error` event. */
  async speak(): Promise<void> {
    const { channel } = this.#context;
    this.#begin();
    try {
      await this.#sendAudio(AbortSignal.any([channel.connection.signal, this.#canceled.signal]));
      this.#end('completed');
    } catch (cause) {
      channel.connection.signal.throwIfAborted();
      if (this.#canceled.signal.aborted) return this.#end('incomplete');
      const error = convertEngineError(cause);
      channel.sendError(error instanceof NativeError ? error : internalError());
      this.#sendDone('failed');
      if (!(error instanceof NativeError)) throw error;
    }
  }

  #begin(): void {
    const { channel, options } = this.#context;
    const response = this.#response('in_progress', { voice: options.voice, output: [] });
    channel.send('response.created', { response });
    channel.send('response.output_item.added', {
      ...this.#itemPosition(),
      item: this.#item('in_progress', []),
    });
    channel.send('response.content_part.added', {
      ...this.#partPosition(),
      part: { type: 'audio', text: '' },
    });
  }

  async #sendAudio(signal: AbortSignal): Promise<void> {
    const { channel, engine, options, triggers, meter } = this.#context;
    const { connection } = channel;
    const sentences = splitText(this.#text);
    const stream = engine.open(options.audio, signal);
    let hasStarted = false;
    try {
      for (const [index, sentence] of sentences.entries()) {
        const last = index === sentences.length - 1;
        const { chunks, seconds } = await stream.speak(utteranceFromSentence(options, sentence, last), last);
        meter.addSentence(sentence.text, seconds);
        for (const { data } of chunks) {
          if (data.length === 0 || triggers.has('no-audio')) continue;
          if (!hasStarted && triggers.has('garbage')) connection.send(brokenJson);
          if (!hasStarted && triggers.has('malformed')) connection.send(invalidEvent);
          channel.send('response.audio.delta', { ...this.#partPosition(), delta: data.toString('base64') });
          hasStarted = true;
          await connection.waitUntilWritable();
          signal.throwIfAborted();
          if (triggers.has('drop')) await this.#drop();
          if (triggers.has('fail-late')) throw internalError();
        }
      }
    } finally {
      stream.close();
    }
  }

  async #drop(): Promise<never> {
    const { connection } = this.#context.channel;
    await connection.drop();
    return await rejectOnAbort(connection.signal);
  }

  #end(status: 'completed' | 'incomplete'): void {
    const { channel } = this.#context;
    const part = { type: 'audio', text: this.#text };
    channel.send('response.audio.done', this.#partPosition());
    channel.send('response.content_part.done', { ...this.#partPosition(), part });
    channel.send('response.output_item.done', { ...this.#itemPosition(), item: this.#item(status, [part]) });
    this.#sendDone(status);
  }

  #sendDone(status: ResponseStatus): void {
    const { channel, options, meter, usage } = this.#context;
    const itemStatus = status === 'completed' ? 'completed' : 'incomplete';
    const response = this.#response(status, {
      modalities: ['text', 'audio'],
      voice: options.voice,
      output: [this.#item(itemStatus, [{ type: 'audio', transcript: '' }])],
      usage: usage(meter),
    });
    channel.send('response.done', { response });
  }

  #response(status: 'in_progress' | ResponseStatus, fields: object): object {
    return { id: this.#responseId, object: 'realtime.response', conversation_id: '', status, ...fields };
  }

  #item(status: string, content: object[]): object {
    return { id: this.#itemId, object: 'realtime.item', type: 'message', status, role: 'assistant', content };
  }

  #itemPosition(): object {
    return { response_id: this.#responseId, output_index: 0 };
  }

  #partPosition(): object {
    return { response_id: this.#responseId, item_id: this.#itemId, output_index: 0, content_index: 0 };
  }
}
