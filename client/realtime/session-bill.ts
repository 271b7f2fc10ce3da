import type { RealtimeTokenUsage, RealtimeUsage, ResponseDone } from '../../generated/events.ts';

/**
 * The usage of a session from the reports of its responses: characters count from the start of the session, so the
 * last figure is the bill; tokens are of one response, so the bill is the sum over the response ids. It never shrinks,
 * whatever order the reports come in.
 */
export class SessionBill {
  #characters: number | undefined;
  readonly #tokens = new Map<string, RealtimeTokenUsage>();

  add({
    response: { id, usage },
  }: {
    response: Pick<ResponseDone['response'], 'id'> & { usage?: RealtimeUsage };
  }): void {
    // A provider may leave it out, though the contract has it.
    if (usage === undefined) return;
    if ('characters' in usage) {
      this.#characters = Math.max(this.#characters ?? 0, usage.characters);
      return;
    }
    const before = this.#tokens.get(id);
    if (before === undefined || tokensOf(before) < tokensOf(usage)) this.#tokens.set(id, usage);
  }

  /** Undefined as long as nothing was reported. */
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
