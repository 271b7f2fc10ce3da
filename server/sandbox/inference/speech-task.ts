import { setTimeout } from 'node:timers/promises';
import { countCharacters } from '../billing.ts';
import { internalError, NativeError } from '../http/native-error.ts';
import type { Parameters } from '../native/parameters.ts';
import { readText, stripSsml } from '../reading.ts';
import { refusalOf, refusalOnArrival, translateEngineError, untilAborted } from '../refusals.ts';
import { Countdown } from '../sockets/connection.ts';
import { TextBuffer } from '../sockets/text-buffer.ts';
import { findTriggers } from '../triggers.ts';
import { TaskSpeaker, type TaskSpeakerContext } from './task-speaker.ts';

interface SpeechTaskContext extends TaskSpeakerContext {
  report: (error: unknown) => void;
  /** Called once `task-finished` has been sent. */
  whenFinished: () => void;
}

/** In billed characters. */
const [maxTextCharacters, maxTaskCharacters] = [20_000, 200_000];

/** One task: takes its text and has it spoken as soon as sentences end. */
export class SpeechTask {
  readonly #context: SpeechTaskContext;
  readonly #speaker: TaskSpeaker;
  readonly #buffer = new TextBuffer();
  readonly #silence: Countdown;
  /** Texts that wait to be spoken. */
  readonly #texts: string[] = [];
  #frames = 0;
  #characters = 0;
  #finishing = false;
  #speaking = false;

  constructor(context: SpeechTaskContext) {
    const { channel, services } = context;
    this.#context = context;
    this.#speaker = new TaskSpeaker(context);
    const { text: timeout } = services.timeouts;
    const message = `No text came for ${timeout / 1000} seconds; the timeout between two texts is over`;
    this.#silence = new Countdown(timeout, () => channel.failClient(message, 'timeout'));
    channel.connection.signal.addEventListener('abort', () => this.#silence.stop(), { once: true });
  }

  start(): void {
    this.#context.channel.send('task-started');
    this.#silence.restart();
  }

  /** `payload.input` of continue-task. Throws a `NativeError` that ends the task. */
  continue(input: Parameters): void {
    const { channel } = this.#context;
    if (this.#finishing) return channel.failClient('continue-task came after finish-task');
    const text = input.string('text');
    const flush = input.flag('flush');
    if (text === undefined && !flush) throw input.wrong('text', 'is required');
    this.#silence.restart();
    if (text !== undefined) this.#append(input, text);
    this.#speak(flush ? this.#buffer.takeAll() : this.#buffer.takeSentences());
  }

  finish(): void {
    if (this.#finishing) return this.#context.channel.failClient('finish-task came twice');
    this.#finishing = true;
    this.#silence.stop();
    this.#speak(this.#buffer.takeAll());
  }

  #append(input: Parameters, written: string): void {
    const { ssml } = this.#context.options;
    if (ssml && this.#frames > 0) {
      throw input.wrong('text', 'is beyond the text request limit: with enable_ssml one text is allowed');
    }
    this.#frames++;
    const text = ssml ? stripSsml(written) : written;
    const characters = countCharacters(text);
    this.#characters += characters;
    if (characters > maxTextCharacters) {
      throw input.wrong(
        'text',
        `must not be longer than ${maxTextCharacters} characters, an ideograph counting 2`,
      );
    }
    if (this.#characters > maxTaskCharacters) {
      throw input.wrong(
        'text',
        `is too much: a task takes ${maxTaskCharacters} characters, an ideograph counting 2`,
      );
    }
    const refusal = refusalOnArrival(text);
    if (refusal) throw refusal;
    this.#buffer.append(text);
  }

  #speak(text: string): void {
    if (text.trim() !== '') this.#texts.push(text);
    void this.#run();
  }

  async #run(): Promise<void> {
    if (this.#speaking) return;
    this.#speaking = true;
    const { channel, report, whenFinished } = this.#context;
    try {
      for (let text = this.#texts.shift(); text !== undefined; text = this.#texts.shift()) {
        await this.#speakText(text);
      }
      if (this.#finishing) {
        await this.#speaker.finish();
        this.#speaker.close();
        whenFinished();
      }
    } catch (cause) {
      this.#speaker.close();
      if (channel.connection.signal.aborted) return;
      const error = translateEngineError(cause);
      channel.fail(error instanceof NativeError ? error : internalError());
      if (!(error instanceof NativeError)) report(error);
    } finally {
      this.#speaking = false;
    }
  }

  async #speakText(text: string): Promise<void> {
    const { channel, services, options } = this.#context;
    const { connection } = channel;
    const triggers = findTriggers(text);
    const refusal = refusalOf(triggers);
    if (refusal) throw refusal;
    if (triggers.has('hang')) {
      connection.silence();
      await untilAborted(connection.signal);
    }
    if (triggers.has('slow')) {
      await setTimeout(services.slowness, undefined, { signal: connection.signal });
    }
    const sentences = readText(text, { markdown: options.markdown });
    for (const [index, sentence] of sentences.entries()) {
      const isLast = () => this.#finishing && this.#texts.length === 0 && index === sentences.length - 1;
      await this.#speaker.speak(sentence, triggers, isLast);
    }
  }
}
