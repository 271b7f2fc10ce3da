import { randomUUID } from 'node:crypto';
import { Meter } from '../billing.ts';
import type { Services } from '../http/exchange.ts';
import { internalError, NativeError } from '../http/native-error.ts';
import { utteranceOf } from '../native/speech.ts';
import { type SynthesisOptions, synthesisUsage, writeWord } from '../native/synthesis.ts';
import type { Sentence } from '../reading.ts';
import { closeCodeOf, untilAborted } from '../refusals.ts';
import type { Connection } from '../sockets/connection.ts';
import type { SpeechStream, SpokenChunk } from '../speech/engine.ts';
import type { Triggers } from '../triggers.ts';

/** Writes the server frames of one task. */
export class TaskChannel {
  readonly connection: Connection;
  readonly taskId: string;

  constructor(connection: Connection, taskId: string) {
    this.connection = connection;
    this.taskId = taskId;
  }

  send(event: string, payload: object = {}, attributes: object = {}): void {
    const header = { task_id: this.taskId, event, attributes };
    this.connection.send(JSON.stringify({ header, payload }));
  }

  /** Ends the task, and the connection with it: after a failure it may not be used again. */
  fail(error: NativeError, closeCode = closeCodeOf(error), reason = ''): void {
    const { code, message } = error;
    const header = { task_id: this.taskId, event: 'task-failed', error_code: code, error_message: message };
    this.connection.send(JSON.stringify({ header: { ...header, attributes: {} }, payload: {} }));
    this.connection.close(closeCode, reason);
  }

  /** The same for a client that does not keep to the order or the time of the frames. */
  failClient(message: string, reason = ''): void {
    this.fail(new NativeError(400, 'CLIENT_ERROR', message), 1000, reason);
  }
}

export interface TaskSpeakerContext {
  channel: TaskChannel;
  services: Services;
  options: SynthesisOptions;
  /** Usage in tokens instead of characters. */
  tokens: boolean;
}

const brokenJson = '{"header":{"event":"result-generated","task_id":"';
const noEvent = '{"header":{"event":"result-generated"}}';

/** Speaks the sentences of one task into one audio file and sends them as they are made. */
export class TaskSpeaker {
  readonly #context: TaskSpeakerContext;
  readonly #meter = new Meter();
  #stream: SpeechStream | undefined;
  #sentences = 0;
  #complete = false;

  constructor(context: TaskSpeakerContext) {
    this.#context = context;
  }

  /** Speaks one sentence; `isLast` says whether it is known by now that none follows. */
  async speak(sentence: Sentence, triggers: Triggers, isLast: () => boolean): Promise<void> {
    const { services, options, channel } = this.#context;
    this.#stream ??= services.engine.open(options.audio, channel.connection.signal);
    // Spoken as if others followed, so that the audio does not depend on when the client ends the task.
    const { chunks, seconds } = await this.#stream.speak(utteranceOf(options, sentence, false), false);
    this.#meter.addSentence(sentence.text, seconds);
    if (isLast()) {
      this.#complete = true;
      chunks.push(...(await this.#stream.finish()).chunks);
    }
    await this.#sendSentence(sentence.text, chunks, triggers);
  }

  /** Sends what the codec still holds and `task-finished`. */
  async finish(): Promise<void> {
    if (this.#stream && !this.#complete) {
      const { chunks } = await this.#stream.finish();
      // Every piece of audio belongs to a sentence; the last one has ended, so the rest gets one without text.
      if (chunks.length > 0) await this.#sendSentence('', chunks, new Map());
    }
    const payload = { output: {}, usage: this.#usage() };
    this.#context.channel.send('task-finished', payload, { request_uuid: randomUUID() });
  }

  close(): void {
    this.#stream?.close();
  }

  async #sendSentence(text: string, chunks: readonly SpokenChunk[], triggers: Triggers): Promise<void> {
    const index = this.#sentences++;
    this.#sendResult('sentence-begin', index, { original_text: text });
    if (!triggers.has('no-audio')) await this.#sendAudio(index, chunks, triggers);
    this.#sendResult('sentence-end', index, { original_text: text }, { usage: this.#usage() });
  }

  async #sendAudio(index: number, chunks: readonly SpokenChunk[], triggers: Triggers): Promise<void> {
    const { channel, options } = this.#context;
    const { connection } = channel;
    if (triggers.has('garbage')) connection.send(brokenJson);
    if (triggers.has('malformed')) connection.send(noEvent);
    for (const { data, words } of chunks) {
      this.#sendResult('sentence-synthesis', index, {}, {}, options.timed ? words.map(writeWord) : []);
      connection.send(data);
      if (triggers.has('drop')) {
        await connection.drop();
        await untilAborted(connection.signal);
      }
      if (triggers.has('fail-late')) throw internalError();
      await connection.writable();
    }
  }

  #sendResult(type: string, index: number, output: object, more: object = {}, words: object[] = []): void {
    const payload = { output: { type, sentence: { index, words }, ...output }, ...more };
    this.#context.channel.send('result-generated', payload);
  }

  #usage(): object {
    return synthesisUsage(this.#meter, this.#context.tokens);
  }
}
