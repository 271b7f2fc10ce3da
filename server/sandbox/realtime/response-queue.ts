import { setTimeout } from 'node:timers/promises';
import { Meter } from '../billing.ts';
import type { Services } from '../http/exchange.ts';
import { refusalOf, untilAborted } from '../refusals.ts';
import { findTriggers } from '../triggers.ts';
import type { RealtimeChannel } from './realtime-channel.ts';
import { RealtimeResponse } from './realtime-response.ts';
import type { SessionOptions } from './session-options.ts';

interface ResponseQueueContext {
  channel: RealtimeChannel;
  services: Services;
  /** Usage of each response in tokens, instead of the session's in characters. */
  tokens: boolean;
  report: (error: unknown) => void;
}

/** Speaks the texts of a session one after another, each as one response. */
export class ResponseQueue {
  readonly #context: ResponseQueueContext;
  readonly #texts: string[] = [];
  readonly #sessionMeter = new Meter();
  #response: RealtimeResponse | undefined;
  #running = false;
  #whenSpoken: (() => void) | undefined;

  constructor(context: ResponseQueueContext) {
    this.#context = context;
  }

  /** Characters that wait. */
  get length(): number {
    return this.#texts.reduce((sum, { length }) => sum + length, 0);
  }

  add(text: string, options: SessionOptions): void {
    this.#texts.push(text);
    void this.#run(options);
  }

  /** Cuts the running response short; those that wait follow. */
  cancel(): void {
    this.#response?.cancel();
  }

  /** Calls back when all has been spoken; nothing may be added any more. */
  end(whenSpoken: () => void): void {
    this.#whenSpoken = whenSpoken;
    if (!this.#running) whenSpoken();
  }

  async #run(options: SessionOptions): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      for (let text = this.#texts.shift(); text !== undefined; text = this.#texts.shift()) {
        await this.#respond(text, options);
      }
      this.#running = false;
      this.#whenSpoken?.();
    } catch (error) {
      // Only a client that has gone stops the queue.
      this.#context.report(error);
    }
  }

  async #respond(text: string, options: SessionOptions): Promise<void> {
    const { channel, services, tokens, report } = this.#context;
    const { signal } = channel.connection;
    const triggers = findTriggers(text);
    const refusal = refusalOf(triggers);
    if (refusal?.status === 400) return channel.sendError(refusal);
    if (refusal) channel.fail(refusal);
    if (triggers.has('hang')) channel.connection.silence();
    if (refusal || triggers.has('hang')) return await untilAborted(signal);
    if (triggers.has('slow')) await setTimeout(services.slowness, undefined, { signal });

    this.#response = new RealtimeResponse(text, {
      channel,
      engine: services.engine,
      options,
      triggers,
      meter: tokens ? new Meter() : this.#sessionMeter,
      usage: tokens ? responseUsage : sessionUsage,
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

/** Legacy: tokens of one response. Nothing spoken costs nothing; anything spoken costs at least the minimum. */
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
