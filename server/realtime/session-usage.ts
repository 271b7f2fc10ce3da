import type { Unit } from '../../generated/catalogue.ts';
import type { Usage } from '../ledger/metering.ts';
import { field } from '../providers/json.ts';
import { readUsage } from '../providers/native/usage.ts';

/**
 * The running usage of a session. Character models report the sum since the start; token models report each
 * response, perhaps more than once, and the sum over the response ids is the bill.
 */
export class SessionUsage {
  readonly #unit: Unit;
  readonly #byResponse = new Map<string, Usage>();
  #total: Usage | undefined;
  #silent = false;

  constructor(unit: Unit) {
    this.#unit = unit;
  }

  /** Takes the `response` of a `response.done`. */
  note(response: unknown): void {
    const usage = readUsage(this.#unit, field(response, 'usage'));
    if (usage === undefined) {
      if (field(response, 'status') === 'completed') this.#silent = true;
      return;
    }
    if (this.#unit !== 'tokens') {
      // Cumulative: it never shrinks, whatever order the reports come in.
      if (usage.units >= (this.#total?.units ?? 0)) this.#total = usage;
      return;
    }
    const id = field(response, 'id');
    if (typeof id !== 'string') {
      this.#total = sum(this.#total, usage, 1);
      return;
    }
    const before = this.#byResponse.get(id);
    if (before !== undefined && before.units >= usage.units) return;
    this.#byResponse.set(id, usage);
    this.#total = sum(sum(this.#total, usage, 1), before, -1);
  }

  /** All that was reported so far; undefined: nothing. */
  get total(): Usage | undefined {
    return this.#total;
  }

  /** Whether a response was completed without telling what it took. */
  get silent(): boolean {
    return this.#silent;
  }
}

function sum(left: Usage | undefined, right: Usage | undefined, sign: 1 | -1): Usage {
  return {
    units: (left?.units ?? 0) + sign * (right?.units ?? 0),
    inputTokens: (left?.inputTokens ?? 0) + sign * (right?.inputTokens ?? 0),
    outputTokens: (left?.outputTokens ?? 0) + sign * (right?.outputTokens ?? 0),
  };
}
