import type { CatalogueModel } from '../../../generated/catalogue.ts';
import type { Failure } from '../../lib/failure.ts';
import { field } from '../../lib/json.ts';
import { audioSeconds, base64Share } from '../../models/speech-time.ts';
import { sumUsage, type Usage } from '../../models/usage.ts';
import { readUsage } from '../../providers/token-usage.ts';
import { SpokenText } from '../../quota/spoken-text.ts';
import { TextReservation } from '../../quota/text-reservation.ts';
import type { Connection } from '../connection.ts';
import type { JsonObject } from '../frames.ts';
import { isServerFailure, type Outcome } from '../session.ts';

/** The running usage of a session. Models report either a cumulative sum or each response, possibly more than once. */
class SessionUsage {
  readonly #model: CatalogueModel;
  readonly #byResponse = new Map<string, Usage>();
  #total: Usage | undefined;

  constructor(model: CatalogueModel) {
    this.#model = model;
  }

  /** Records the `response` of a `response.done`. Returns false if it contains no usage. */
  record(response: unknown): boolean {
    const usage = readUsage(this.#model.unit, field(response, 'usage'));
    if (usage === undefined) return false;
    if (this.#model.reported === 'response') this.#addResponse(field(response, 'id'), usage);
    // A cumulative sum never shrinks, but reports may arrive in any order.
    else if (usage.units >= (this.#total?.units ?? 0)) this.#total = usage;
    return true;
  }

  /** Records the estimated usage of a response without usage. */
  recordEstimate(response: unknown, usage: Usage): void {
    if (this.#model.reported === 'response') this.#addResponse(field(response, 'id'), usage);
    else this.#total = sumUsage(this.#total, usage, 1);
  }

  #addResponse(id: unknown, usage: Usage): void {
    if (typeof id !== 'string') {
      this.#total = sumUsage(this.#total, usage, 1);
      return;
    }
    const before = this.#byResponse.get(id);
    if (before !== undefined && before.units >= usage.units) return;
    this.#byResponse.set(id, usage);
    this.#total = sumUsage(sumUsage(this.#total, usage, 1), before, -1);
  }

  /** Total usage so far. Undefined if none was recorded. */
  get total(): Usage | undefined {
    return this.#total;
  }
}

/** Providers count kana and hangul twice, as they do Chinese characters. */
const countOptions = { eastAsian: true };
const defaultFormat = { format: 'pcm', sample_rate: 24_000, bit_rate: 128 };

/** Reserves quota for the text of a session. Settles the reported usage and the audio sent without a report. */
export class SessionSettlement {
  readonly #reservation: TextReservation;
  readonly #usage: SessionUsage;
  readonly #text: SpokenText;

  constructor({ gateway, requestId, key, model, startedAt }: Connection) {
    // The voice can change during a session, but not its kind.
    const priceFields = () => ({ voice: model.voices });
    const call = { requestId, key, operation: 'openRealtimeSocket', model, startedAt, priceFields };
    this.#reservation = new TextReservation(gateway, call);
    this.#usage = new SessionUsage(model);
    this.#text = new SpokenText(model.unit, countOptions);
  }

  /** Why the quota did not cover a text. */
  get refusal(): Failure | undefined {
    return this.#reservation.refusal;
  }

  /** Reserves quota for one more text, in addition to the reported usage. Returns false if the quota is too low. */
  reserve(text: string): Promise<boolean> {
    return this.#reservation.cover(this.#text.boundWith(text, this.#usage.total));
  }

  /** Records text that was sent to the provider. */
  addSentText(text: string): void {
    this.#text.add(text);
  }

  /** Records that the provider speaks, or was requested to speak, the text sent so far. */
  beginSynthesis(): void {
    this.#text.commit();
  }

  /** Removes the text whose synthesis has not begun: the provider has dropped it. */
  clearText(): void {
    this.#text.clear();
  }

  /** Records Base64 audio sent to the client. `length` is in characters. */
  addAudio(length: number, settings: JsonObject): void {
    const format = { ...settings, format: settings.response_format };
    this.#text.addAudio(audioSeconds(length * base64Share, format, defaultFormat));
  }

  /** Records the text of a content part whose audio was sent completely. */
  addSpokenText(text: unknown): void {
    if (typeof text === 'string' && text !== '') this.#text.attribute(text);
  }

  /** Records the `response` of a `response.done`. */
  recordResponse(response: unknown): void {
    if (!this.#usage.record(response)) {
      const status = field(response, 'status');
      if (status === 'failed') {
        this.#text.discardUnreported();
        return;
      }
      // The whole text of a completed response is charged.
      if (status === 'completed') this.#text.complete();
      this.#usage.recordEstimate(response, this.#text.unreported);
    }
    const { total } = this.#usage;
    if (total !== undefined) this.#text.report(total);
  }

  /** Charges the reported usage and, unless the provider or the gateway failed, the audio sent without a report. */
  settle(outcome: Outcome & { channel: string }): Promise<number | undefined> {
    const { total } = this.#usage;
    const usage = isServerFailure(outcome) ? total : sumUsage(total, this.#text.unreported);
    return this.#reservation.close(usage, outcome, this.#text.bound);
  }
}
