import type { Usage } from '../../quota/metering.ts';
import { countersOf, countIn, usageOf } from '../token-usage.ts';

const inputNames = ['input_tokens', 'prompt_tokens'];
const outputNames = ['output_tokens', 'completion_tokens'];

/** Counts the tokens of a message from cumulative reports, or estimates them. The prompt cache is part of the input. */
export class TokenCounter {
  readonly #likelyInput: number;
  #input: number | undefined;
  #cacheWritten = 0;
  #cacheRead = 0;
  #output: number | undefined;
  #textBytes = 0;

  /** `likelyInput` is used if the provider reports no input tokens. */
  constructor(likelyInput: number) {
    this.#likelyInput = likelyInput;
  }

  report(report: unknown): void {
    this.#input = countIn(report, ...inputNames) ?? this.#input;
    this.#output = countIn(report, ...outputNames) ?? this.#output;
    this.#cacheWritten = countIn(report, 'cache_creation_input_tokens') ?? this.#cacheWritten;
    this.#cacheRead = countIn(report, 'cache_read_input_tokens') ?? this.#cacheRead;
  }

  /** Counts generated text for the estimate. */
  addText(text: string): void {
    this.#textBytes += Buffer.byteLength(text);
  }

  /** Usage by the last report. */
  get reported(): Usage {
    return this.#usage(this.#output ?? this.#likelyOutput);
  }

  /** Usage of an aborted message. Includes text generated since the last report. */
  get delivered(): Usage {
    return this.#usage(Math.max(this.#output ?? 0, this.#likelyOutput));
  }

  /** Public usage: the provider's report and the five counters. */
  publicUsage(report: unknown): ReturnType<typeof countersOf> & object {
    const output = this.#output ?? this.#likelyOutput;
    // A provider's own cost is not the charge of the client.
    const { cost: _, ...own } =
      typeof report === 'object' && report !== null ? (report as { cost?: unknown }) : {};
    return { ...own, ...countersOf(this.#input ?? this.#likelyInput, output) };
  }

  /** Public usage at the start of a stream, without the counters that public clients do not update. */
  publicUsageAtStart(report: unknown): object {
    const { prompt_tokens, completion_tokens, total_tokens, ...rest } = this.publicUsage(report);
    return rest;
  }

  get #likelyOutput(): number {
    return Math.ceil(this.#textBytes / 4);
  }

  #usage(output: number): Usage {
    const input = this.#input ?? this.#likelyInput;
    return {
      ...usageOf(input + this.#cacheWritten + this.#cacheRead, output),
      ...(this.#cacheRead > 0 && { cachedTokens: this.#cacheRead }),
      ...(this.#cacheWritten > 0 && { cacheWriteTokens: this.#cacheWritten }),
    };
  }
}
