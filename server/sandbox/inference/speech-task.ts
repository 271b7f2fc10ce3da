import { setTimeout } from 'node:timers/promises';
import { countCharacters } from '../billing.ts';
import { internalError, NativeError } from '../http/native-error.ts';
import type { Parameters } from '../native/parameters.ts';
import { splitText, stripSsml } from '../sentences.ts';
import { RestartableTimeout } from '../sockets/connection.ts';
import { TextBuffer } from '../sockets/text-buffer.ts';
import { convertEngineError, errorOnArrival, rejectOnAbort, triggeredError } from '../triggered-errors.ts';
import { findTriggers } from '../triggers.ts';
import { TaskSpeaker, type TaskSpeakerContext } from './task-speaker.ts';

interface SpeechTaskContext extends TaskSpeakerContext {
  report: (error: unknown) => void;
  /** Called after `task-finished` has been sent. */
  onFinished: () => void;
}

/** Limits in billed characters. */
const [maxTextCharacters, maxTaskCharacters] = [20_000, 200_000];

/** One task: buffers its text and synthesizes each complete sentence. */
export class SpeechTask {
  readonly #context: SpeechTaskContext;
  readonly #speaker: TaskSpeaker;
  readonly #buffer = new TextBuffer();
  readonly #textTimeout: RestartableTimeout;
  /** Texts waiting for synthesis. */
  readonly #texts: string[] = [];
  #frames = 0;
  #characters = 0;
  #isFinishing = false;
  #isSpeaking = false;

  constructor(context: SpeechTaskContext) {
    const { channel, services } = context;
    this.#context = context;
    this.#speaker = new TaskSpeaker(context);
    const { text: timeout } = services.timeoutsMs;
    const message = `No text was received for ${timeout / 1000} seconds, the timeout between two texts`;
    this.#textTimeout = new RestartableTimeout(timeout, () =>
      channel.failWithClientError(message, 'timeout'),
    );
    channel.connection.signal.addEventListener('abort', () => this.#textTimeout.stop(), { once: true });
  }

  start(): void {
    this.#context.channel.send('task-started');
    this.#textTimeout.restart();
  }

  /** Handles `payload.input` of continue-task. Throws a `NativeError` that ends the task. */
  continue(input: Parameters): void {
    const { channel } = this.#context;
    if (this.#isFinishing)
      return channel.failWithClientError('continue-task is not allowed after finish-task');
    const text = input.string('text');
    const flush = input.flag('flush');
    if (text === undefined && !flush) throw input.invalid('text', 'is required');
    this.#textTimeout.restart();
    if (text !== undefined) this.#append(input, text);
    this.#speak(flush ? this.#buffer.readAll() : this.#buffer.readSentences());
  }

  finish(): void {
    if (this.#isFinishing) return this.#context.channel.failWithClientError('finish-task was sent twice');
    this.#isFinishing = true;
    this.#textTimeout.stop();
    this.#speak(this.#buffer.readAll());
  }

  #append(input: Parameters, rawText: string): void {
    const { isSsml } = this.#context.options;
    if (isSsml && this.#frames > 0) {
      throw input.invalid(
        'text',
        'exceeds the text request limit: only one text is allowed with enable_ssml',
      );
    }
    this.#frames++;
    const text = isSsml ? stripSsml(rawText) : rawText;
    const characters = countCharacters(text);
    this.#characters += characters;
    if (characters > maxTextCharacters) {
      throw input.invalid(
        'text',
        `must not be longer than ${maxTextCharacters} characters (an ideograph counts as 2)`,
      );
    }
    if (this.#characters > maxTaskCharacters) {
      throw input.invalid(
        'text',
        `exceeds the limit of ${maxTaskCharacters} characters per task (an ideograph counts as 2)`,
      );
    }
    const error = errorOnArrival(text);
    if (error) throw error;
    this.#buffer.append(text);
  }

  #speak(text: string): void {
    if (text.trim() !== '') this.#texts.push(text);
    void this.#run();
  }

  async #run(): Promise<void> {
    if (this.#isSpeaking) return;
    this.#isSpeaking = true;
    const { channel, report, onFinished } = this.#context;
    try {
      for (let text = this.#texts.shift(); text !== undefined; text = this.#texts.shift()) {
        await this.#speakText(text);
      }
      if (this.#isFinishing) {
        await this.#speaker.finish();
        this.#speaker.close();
        onFinished();
      }
    } catch (cause) {
      this.#speaker.close();
      if (channel.connection.signal.aborted) return;
      const error = convertEngineError(cause);
      channel.fail(error instanceof NativeError ? error : internalError());
      if (!(error instanceof NativeError)) report(error);
    } finally {
      this.#isSpeaking = false;
    }
  }

  async #speakText(text: string): Promise<void> {
    const { channel, services, options } = this.#context;
    const { connection } = channel;
    const triggers = findTriggers(text);
    const error = triggeredError(triggers);
    if (error) throw error;
    if (triggers.has('hang')) {
      connection.silence();
      await rejectOnAbort(connection.signal);
    }
    if (triggers.has('slow')) {
      await setTimeout(services.slowDelayMs, undefined, { signal: connection.signal });
    }
    const sentences = splitText(text, { markdown: options.markdown });
    for (const [index, sentence] of sentences.entries()) {
      const isLast = () => this.#isFinishing && this.#texts.length === 0 && index === sentences.length - 1;
      await this.#speaker.speak(sentence, triggers, isLast);
    }
  }
}
