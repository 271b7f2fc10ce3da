import { randomUUID } from 'node:crypto';
import { Meter } from '../billing.ts';
import type { Services } from '../http/exchange.ts';
import { internalError, NativeError } from '../http/native-error.ts';
import { utteranceFromSentence } from '../native/speech.ts';
import { formatWord, type SynthesisOptions, synthesisUsage } from '../native/synthesis.ts';
import type { Sentence } from '../sentences.ts';
import type { Connection } from '../sockets/connection.ts';
import type { SpeechStream, SpokenChunk } from '../speech/engine.ts';
import { closeCodeFor, rejectOnAbort } from '../triggered-errors.ts';
import type { Triggers } from '../triggers.ts';

/** Sends the server frames of one task. */
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

  /** Fails the task and closes the connection, which cannot be reused after a failure. */
  fail(error: NativeError, closeCode = closeCodeFor(error), reason = ''): void {
    const { code, message } = error;
    const header = { task_id: this.taskId, event: 'task-failed', error_code: code, error_message: message };
    this.connection.send(JSON.stringify({ header: { ...header, attributes: {} }, payload: {} }));
    this.connection.close(closeCode, reason);
  }

  /** Fails the task because the client violated the order or the timing of the frames. */
  failWithClientError(message: string, reason = ''): void {
    this.fail(new NativeError(400, 'CLIENT_ERROR', message), 1000, reason);
  }
}

export interface TaskSpeakerContext {
  channel: TaskChannel;
  services: Services;
  options: SynthesisOptions;
  /** Report usage in tokens instead of characters. */
  usesTokens: boolean;
}

const brokenJson = '{"header":{"event":"result-generated","task_id":"';
const invalidEvent = '{"header":{"event":"result-generated"}}';

/** Synthesizes the sentences of one task as one audio stream and sends each when it is complete. */
export class TaskSpeaker {
  readonly #context: TaskSpeakerContext;
  readonly #meter = new Meter();
  #stream: SpeechStream | undefined;
  #sentences = 0;
  #isComplete = false;

  constructor(context: TaskSpeakerContext) {
    this.#context = context;
  }

  /** Synthesizes one sentence. `isLast` returns true if it is known at that moment that no sentence follows. */
  async speak(sentence: Sentence, triggers: Triggers, isLast: () => boolean): Promise<void> {
    const { services, options, channel } = this.#context;
    this.#stream ??= services.engine.open(options.audio, channel.connection.signal);
    // Always synthesized as if more sentences followed, so that the audio does not depend on when the client finishes
    // the task.
    const { chunks, seconds } = await this.#stream.speak(
      utteranceFromSentence(options, sentence, false),
      false,
    );
    this.#meter.addSentence(sentence.text, seconds);
    if (isLast()) {
      this.#isComplete = true;
      chunks.push(...(await this.#stream.finish()).chunks);
    }
    await this.#sendSentence(sentence.text, chunks, triggers);
  }

  /** Flushes the encoder and sends `task-finished`. */
  async finish(): Promise<void> {
    if (this.#stream && !this.#isComplete) {
      const { chunks } = await this.#stream.finish();
      // All audio belongs to a sentence. The last one has ended, so the rest is sent as a sentence without text.
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
    if (triggers.has('malformed')) connection.send(invalidEvent);
    for (const { data, words } of chunks) {
      this.#sendResult(
        'sentence-synthesis',
        index,
        {},
        {},
        options.reportsWordTimes ? words.map(formatWord) : [],
      );
      connection.send(data);
      if (triggers.has('drop')) {
        await connection.drop();
        await rejectOnAbort(connection.signal);
      }
      if (triggers.has('fail-late')) throw internalError();
      await connection.waitUntilWritable();
    }
  }

  #sendResult(type: string, index: number, output: object, more: object = {}, words: object[] = []): void {
    const payload = { output: { type, sentence: { index, words }, ...output }, ...more };
    this.#context.channel.send('result-generated', payload);
  }

  #usage(): object {
    return synthesisUsage(this.#meter, this.#context.usesTokens);
  }
}
