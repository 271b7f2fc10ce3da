import { TextHold } from '../ledger/text-hold.ts';
import { TextEstimate } from '../ledger/usage.ts';
import type { Connection } from './connection.ts';
import { SessionUsage } from './session-usage.ts';

/** The provider counts kana and hangul twice as well. */
const counting = { eastAsian: true };

/** A session's place in the books: quota is held for its text, and what the provider reports is paid. */
export class SessionBooks {
  readonly #unit: Connection['model']['unit'];
  readonly #hold: TextHold;
  readonly #usage: SessionUsage;
  readonly #estimate: TextEstimate;
  /** Units of the text that was covered. */
  #covered = 0;

  constructor({ gateway, requestId, caller, model, startedAt }: Connection) {
    this.#unit = model.unit;
    this.#hold = new TextHold(gateway, {
      requestId,
      caller,
      operation: 'openRealtimeSocket',
      model,
      startedAt,
    });
    this.#usage = new SessionUsage(model.unit);
    this.#estimate = new TextEstimate(model.unit, counting);
  }

  /** Holds quota for one more text. False when the key's quota does not cover it. */
  async cover(text: string): Promise<boolean> {
    this.#estimate.add(text);
    const alone = new TextEstimate(this.#unit, counting);
    alone.add(text);
    // What was reported may be more than was expected; the new text comes on top of either.
    const units = Math.max(this.#estimate.units, (this.#usage.total?.units ?? 0) + alone.units);
    if (!(await this.#hold.cover(units))) return false;
    this.#covered = units;
    return true;
  }

  /** The text that follows is spoken on its own. */
  cut(): void {
    this.#estimate.cut();
  }

  /** Takes the `response` of a `response.done`. */
  note(response: unknown): void {
    this.#usage.note(response);
  }

  /** Charges what was reported. A provider that completed a response and told nothing is paid for the text. */
  close(outcome: { channel: string; status: number; errorCode?: string }): Promise<void> {
    const { total, silent } = this.#usage;
    const expected = { units: this.#covered, inputTokens: 0, outputTokens: 0 };
    return this.#hold.close(total ?? (silent ? expected : undefined), outcome);
  }
}
