import type { Usage } from '../../quota/metering.ts';
import { countersOf, tokensIn, usageOf } from '../token-usage.ts';

const inputNames = ['input_tokens', 'prompt_tokens'];
const outputNames = ['output_tokens', 'completion_tokens'];

/**
 * Tokens of one message: the provider's figures, which are cumulative, and an estimate where it gives none. Tokens of its
 * prompt cache stand beside those of the input, and are charged like them.
 */
export class TokenTally {
  readonly #likelyInput: number;
  #input: number | undefined;
  #cacheWritten = 0;
  #cacheRead = 0;
  #output: number | undefined;
  /** Bytes of text that the model has written. */
  #written = 0;

  /** `likelyInput` stands in for a provider that reports no input. */
  constructor(likelyInput: number) {
    this.#likelyInput = likelyInput;
  }

  /** Takes what a provider reports of the message so far. */
  report(report: unknown): void {
    this.#input = tokensIn(report, ...inputNames) ?? this.#input;
    this.#output = tokensIn(report, ...outputNames) ?? this.#output;
    this.#cacheWritten = tokensIn(report, 'cache_creation_input_tokens') ?? this.#cacheWritten;
    this.#cacheRead = tokensIn(report, 'cache_read_input_tokens') ?? this.#cacheRead;
  }

  /** Takes a text that the model has written. */
  wrote(text: string): void {
    this.#written += Buffer.byteLength(text);
  }

  /** By the provider's last figures. */
  get reported(): Usage {
    return this.#usage(this.#output ?? this.#likelyOutput);
  }

  /** Of a message in the middle of which somebody leaves: figures of its beginning count nothing of what came since. */
  get delivered(): Usage {
    return this.#usage(Math.max(this.#output ?? 0, this.#likelyOutput));
  }

  /** The public usage: all that the provider reports, and the five counters. */
  public(report: unknown): ReturnType<typeof countersOf> & object {
    const output = this.#output ?? this.#likelyOutput;
    const own = typeof report === 'object' && report !== null ? report : {};
    return { ...own, ...countersOf(this.#input ?? this.#likelyInput, output) };
  }

  /**
   * The public usage at the beginning of a stream: without the counters that public clients do not update later. They come
   * with the final event.
   */
  publicAtStart(report: unknown): object {
    const { prompt_tokens, completion_tokens, total_tokens, ...rest } = this.public(report);
    return rest;
  }

  get #likelyOutput(): number {
    return Math.ceil(this.#written / 4);
  }

  #usage(output: number): Usage {
    const input = this.#input ?? this.#likelyInput;
    return usageOf(input + this.#cacheWritten + this.#cacheRead, output);
  }
}
