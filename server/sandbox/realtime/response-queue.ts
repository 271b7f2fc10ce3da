import { setTimeout } from 'node:timers/promises';
import { Meter } from '../billing.ts';
import type { Services } from '../http/exchange.ts';
import { rejectOnAbort, triggeredError } from '../triggered-errors.ts';
import { findTriggers } from '../triggers.ts';
import type { RealtimeChannel } from './realtime-channel.ts';
import { RealtimeResponse } from './realtime-response.ts';
import type { SessionOptions } from './session-options.ts';

interface ResponseQueueContext {
  channel: RealtimeChannel;
  services: Services;
  /** Report the usage of each response in tokens instead of the usage of the session in characters. */
  usesTokens: boolean;
  report: (error: unknown) => void;
}

/** Synthesizes the texts of a session in order, each as one response. */
export class ResponseQueue {
  readonly #context: ResponseQueueContext;
  readonly #texts: string[] = [];
  readonly #sessionMeter = new Meter();
  #response: RealtimeResponse | undefined;
  #isRunning = false;
  #onEmpty: (() => void) | undefined;

  constructor(context: ResponseQueueContext) {
    this.#context = context;
  }

  /** Number of waiting characters. */
  get waitingCharacters(): number {
    return this.#texts.reduce((sum, { length }) => sum + length, 0);
  }

  add(text: string, options: SessionOptions): void {
    this.#texts.push(text);
    void this.#run(options);
  }

  /** Cancels the running response. The next one in the queue starts. */
  cancel(): void {
    this.#response?.cancel();
  }

  /** Calls back when the queue is empty. Nothing can be added afterwards. */
  end(onEmpty: () => void): void {
    this.#onEmpty = onEmpty;
    if (!this.#isRunning) onEmpty();
  }

  async #run(options: SessionOptions): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (let text = this.#texts.shift(); text !== undefined; text = this.#texts.shift()) {
        await this.#respond(text, options);
      }
      this.#isRunning = false;
      this.#onEmpty?.();
    } catch (error) {
      // Only a disconnected client stops the queue.
      this.#context.report(error);
    }
  }

  async #respond(text: string, options: SessionOptions): Promise<void> {
    const { channel, services, usesTokens, report } = this.#context;
    const { signal } = channel.connection;
    const triggers = findTriggers(text);
    const error = triggeredError(triggers);
    if (error?.status === 400) return channel.sendError(error);
    if (error) channel.fail(error);
    if (triggers.has('hang')) channel.connection.silence();
    if (error || triggers.has('hang')) return await rejectOnAbort(signal);
    if (triggers.has('slow')) await setTimeout(services.slowDelayMs, undefined, { signal });

    this.#response = new RealtimeResponse(text, {
      channel,
      engine: services.engine,
      options,
      triggers,
      meter: usesTokens ? new Meter() : this.#sessionMeter,
      usage: usesTokens ? responseUsage : sessionUsage,
    });
    try {
      await this.#response.speak();
    } catch (error) {
      signal.throwIfAborted();
      report(error);
    } finally {
      this.#response = undefined;
    }
  }
}

/** Alpha3: characters since the start of the session. */
function sessionUsage({ characters }: Meter): object {
  return { characters };
}

/** Legacy models: tokens of one response. A response without audio costs nothing, any other at least the minimum. */
function responseUsage({ seconds, textTokens, audioTokens }: Meter): object {
  const output = seconds === 0 ? 0 : audioTokens;
  return {
    total_tokens: textTokens + output,
    input_tokens: textTokens,
    output_tokens: output,
    input_tokens_details: { text_tokens: textTokens },
    output_tokens_details: { text_tokens: 0, audio_tokens: output },
  };
}
