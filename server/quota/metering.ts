import type { Caller } from '../keys/caller.ts';
import { keyRefused } from '../keys/key-cache.ts';
import type { Timers } from '../lib/timers.ts';
import type { Usage, UsageBound } from '../models/usage.ts';
import type { LogEntry } from '../store/commands/log-entries.ts';
import type { FinalState } from '../store/schema.ts';
import type { Logger } from '../telemetry/logger.ts';
import { recordCost, recordReservation, recordSettlement } from '../telemetry/quota-metrics.ts';
import { insufficientQuota } from './insufficient-quota.ts';
import type { Reservations } from './ledger.ts';
import { usageBounds } from './price-rules.ts';
import { boundsOf, type PricedRequest } from './priced-request.ts';
import { costOf, highestCost, type Prices, type PriceTerms } from './prices.ts';
import { appliedRule, chargeableUsage, quoteFor } from './quote.ts';
import type { VendorCosts } from './vendor-costs.ts';

export type { Usage } from '../models/usage.ts';

/** Counts the spending of channels. */
interface SpendRecorder {
  recordSpend(channel: string, quota: number): void;
}

export interface MeteringParts {
  readonly callQuota: Reservations;
  readonly prices: Prices;
  readonly logger: Logger;
  readonly timers: Timers;
  /** Default: no costs are known. */
  readonly vendorCosts?: VendorCosts;
  /** Default: spending is not counted. */
  readonly channels?: SpendRecorder;
}

/** A call with its price. The gateway reserves quota for its upper bound. */
export interface MeteredCall extends PricedRequest {
  requestId: string;
  caller: Caller;
  operation: string;
  /** Usage to charge for an answer without a report. Default: the upper bound. */
  likely?: Usage;
  /** By the monotonic clock. */
  startedAt: number;
}

/** How a call ended. */
export interface CallOutcome {
  channel: string;
  /** HTTP status given to the client. */
  status: number;
  errorCode?: string;
  /** Default: `failed` with an error code or a status from 400 on, else `completed`. */
  state?: FinalState;
  /** The provider's request id, if it reported one. */
  upstreamId?: string | null;
}

/** Meters one call: reserves its quota on `open`, and ends once with `charge` or `refund`. */
export class Metering {
  readonly #parts: MeteringParts;
  readonly #call: MeteredCall;
  /** The price when the call began. */
  readonly #terms: PriceTerms;
  /** The reserved usage, and the quota for it. */
  #bound: UsageBound;
  #reserved: number;
  #closed = false;

  private constructor(parts: MeteringParts, call: MeteredCall, terms: PriceTerms, reserved: number) {
    this.#parts = parts;
    this.#call = call;
    this.#terms = terms;
    this.#bound = boundOf(call);
    this.#reserved = reserved;
  }

  /** @throws Failure 403 when the quota of the key or of its wallet does not cover the expected units, 401 when the key was revoked */
  static async open(parts: MeteringParts, call: MeteredCall): Promise<Metering> {
    const { caller, model, requestId } = call;
    const { terms, amount } = quoteFor(parts.prices, call, caller.group);
    const outcome = await parts.callQuota.reserve({
      requestId,
      token: { id: caller.tokenId, userId: caller.userId, unlimited: caller.unlimited === true },
      model: model.id,
      unit: model.unit,
      amount,
    });
    if (outcome === 'insufficient_quota' || outcome === 'over_budget') {
      const shortage = await parts.callQuota.describeShortage(caller, outcome === 'over_budget');
      throw insufficientQuota({ model, expectedUnits: call.expectedUnits, amount }, shortage);
    }
    if (outcome === 'key_revoked') throw keyRefused();
    if (outcome === 'duplicate') throw new Error(`request id ${requestId} was used before`);
    recordReservation(model.id, amount);
    return new Metering(parts, call, terms, amount);
  }

  /**
   * Raises the reservation to a usage in total. Returns false when the call is closed. `caller` is the current state of the key.
   *
   * @throws Failure 403 when the quota does not cover it; the reservation is unchanged then
   */
  async cover(bound: UsageBound, caller: Caller): Promise<boolean> {
    if (this.#closed) return false;
    const { requestId, model } = this.#call;
    const from = this.#reserved;
    const to = Math.max(from, highestCost({ unit: model.unit, ...bound }, this.#terms));
    if (to > from) {
      const { tokenId, unlimited = false } = caller;
      const outcome = await this.#parts.callQuota.extend({ requestId, tokenId, unlimited, from, to });
      if (outcome === 'insufficient_quota' || outcome === 'over_budget') {
        const shortage = await this.#parts.callQuota.describeShortage(caller, outcome === 'over_budget');
        const more = { expectedUnits: Math.max(0, bound.units - this.#bound.units), amount: to - from };
        throw insufficientQuota({ model, ...more }, shortage);
      }
      if (outcome === 'not_open') throw new Error(`the amount of reservation ${requestId} is not ${from}`);
      recordReservation(model.id, to - from);
      this.#reserved = to;
    }
    if (bound.units >= this.#bound.units) this.#bound = bound;
    return true;
  }

  /** Usage to charge for an answer that was delivered without a usage report. */
  get expected(): Usage {
    const { likely, expectedUnits } = this.#call;
    if (likely !== undefined) return likely;
    if (this.#terms.rule !== null) return boundsOf(this.#call);
    return { units: expectedUnits, inputTokens: 0, outputTokens: 0 };
  }

  /**
   * Charges the usage, also beyond the reservation. A figure that is a fault of the provider is charged at the upper
   * bound, `bound`. Resolves when the settlement is on disk, with the quota in the log entry. Undefined: the
   * call was closed before.
   */
  async charge(reported: Usage, outcome: CallOutcome, bound = this.#bound): Promise<number | undefined> {
    if (this.#closed) return undefined;
    const { requestId } = this.#call;
    this.#closed = true;
    const usage = this.#chargeable(reported, bound, outcome.channel);
    const charged = costOf(usage, this.#terms);
    const cost = this.#vendorCost(usage, outcome.channel);
    const log = { ...this.#log(usage, outcome), ...(cost !== null && { cost }) };
    const { callQuota, logger } = this.#parts;
    try {
      const settlement = await callQuota.settle({ requestId, charged, log });
      this.#parts.channels?.recordSpend(outcome.channel, cost ?? charged);
      if (settlement !== undefined) recordSettlement(this.#call.model.id, this.#reserved, settlement);
      else logger.error({ request_id: requestId }, 'the reservation was closed before it was settled');
      return settlement?.charged;
    } catch (error) {
      logger.error({ request_id: requestId, charged, err: error }, 'the usage could not be charged');
      throw error;
    }
  }

  #vendorCost(usage: Usage, channel: string): number | null {
    const { model, priceFields = () => ({}) } = this.#call;
    const cost = this.#parts.vendorCosts?.costOf(channel, model.id, usage, priceFields) ?? null;
    if (cost !== null) recordCost(model.id, cost);
    return cost;
  }

  /** Refunds the reservation. Resolves when the refund is on disk. */
  async refund(outcome: CallOutcome & { errorCode: string }): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const none = { units: 0, inputTokens: 0, outputTokens: 0 };
    await this.#parts.callQuota.refund({ requestId: this.#call.requestId, log: this.#log(none, outcome) });
    recordSettlement(this.#call.model.id, this.#reserved, { charged: 0, debt: 0 });
  }

  /** The reported usage, or the upper bound in its place when the report is a fault of the provider. */
  #chargeable(reported: Usage, { units, maxOutputTokens }: UsageBound, channel: string): Usage {
    const bound = usageBounds(this.#call.model.unit, units, maxOutputTokens);
    const { usage, replaced } = chargeableUsage(reported, this.#terms, bound);
    if (replaced.length > 0)
      this.#parts.logger.warn(
        { request_id: this.#call.requestId, channel, reported, bound, replaced },
        'the reported usage is not plausible for the request; charging the upper bound',
      );
    return usage;
  }

  #log(usage: Usage, { channel, status, errorCode, state, upstreamId = null }: CallOutcome): LogEntry {
    const { rule, rules: _, ...price } = this.#terms;
    const isFailed = status >= 400 || errorCode !== undefined;
    return {
      operation: this.#call.operation,
      channel,
      status,
      errorCode: errorCode ?? null,
      units: usage.units,
      promptTokens: usage.inputTokens,
      completionTokens: usage.outputTokens,
      durationMs: this.#parts.timers.monotonic() - this.#call.startedAt,
      evidence: {
        ...price,
        appliedRule: appliedRule({ rule }, usage),
        state: state ?? (isFailed ? 'failed' : 'completed'),
        upstreamId,
      },
    };
  }
}

function boundOf({ expectedUnits: units, maxOutputTokens }: PricedRequest): UsageBound {
  return maxOutputTokens === undefined ? { units } : { units, maxOutputTokens };
}
