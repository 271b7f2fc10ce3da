import type { RealtimeTokenUsage, RealtimeUsage, ResponseDone } from '../../generated/events.ts';

/**
 * Computes the usage of a session from the reports of its responses. Character counts are cumulative, so the largest is the
 * total. Token counts are per response, so the total is the sum over the response ids. The total never decreases, in any
 * order of reports.
 */
export class SessionUsage {
  #characters: number | undefined;
  readonly #tokens = new Map<string, RealtimeTokenUsage>();

  add({
    response: { id, usage: total },
  }: {
    response: Pick<ResponseDone['response'], 'id'> & { usage?: RealtimeUsage };
  }): void {
    // A provider may omit the usage, although the contract requires it.
    if (total === undefined) return;
    if ('characters' in total) {
      this.#characters = Math.max(this.#characters ?? 0, total.characters);
      return;
    }
    const previous = this.#tokens.get(id);
    if (previous === undefined || tokensOf(previous) < tokensOf(total)) this.#tokens.set(id, total);
  }

  /** Undefined until the first report. */
  get usage(): RealtimeUsage | undefined {
    if (this.#characters !== undefined) return { characters: this.#characters };
    if (this.#tokens.size === 0) return undefined;
    const all = [...this.#tokens.values()];
    const sum = (read: (usage: RealtimeTokenUsage) => number | undefined) =>
      all.reduce((total, usage) => total + (read(usage) ?? 0), 0);
    const input = sum((usage) => usage.input_tokens);
    const output = sum((usage) => usage.output_tokens);
    return {
      input_tokens: input,
      output_tokens: output,
      total_tokens: input + output,
      input_tokens_details: { text_tokens: sum((usage) => usage.input_tokens_details?.text_tokens) },
      output_tokens_details: {
        text_tokens: sum((usage) => usage.output_tokens_details?.text_tokens),
        audio_tokens: sum((usage) => usage.output_tokens_details?.audio_tokens),
      },
    };
  }
}

function tokensOf({ input_tokens: input, output_tokens: output }: RealtimeTokenUsage): number {
  return input + output;
}
