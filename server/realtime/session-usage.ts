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

  constructor(unit: Unit) {
    this.#unit = unit;
  }

  /** Takes the `response` of a `response.done`. False when it tells no usage. */
  note(response: unknown): boolean {
    const usage = readUsage(this.#unit, field(response, 'usage'));
    if (usage === undefined) return false;
    if (this.#unit === 'tokens') this.#noteResponse(field(response, 'id'), usage);
    // Cumulative: it never shrinks, whatever order the reports come in.
    else if (usage.units >= (this.#total?.units ?? 0)) this.#total = usage;
    return true;
  }

  /** Takes what was heard of a response that ended without a figure. */
  assume(response: unknown, usage: Usage): void {
    if (this.#unit === 'tokens') this.#noteResponse(field(response, 'id'), usage);
    else this.#total = sum(this.#total, usage, 1);
  }

  #noteResponse(id: unknown, usage: Usage): void {
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
}

export function sum(left: Usage | undefined, right: Usage | undefined, sign: 1 | -1 = 1): Usage {
  return {
    units: (left?.units ?? 0) + sign * (right?.units ?? 0),
    inputTokens: (left?.inputTokens ?? 0) + sign * (right?.inputTokens ?? 0),
    outputTokens: (left?.outputTokens ?? 0) + sign * (right?.outputTokens ?? 0),
  };
}
