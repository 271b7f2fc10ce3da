import type { CatalogueModel } from '../../../generated/catalogue.ts';
import { audioSeconds, base64Share } from '../../models/speech-time.ts';
import { sumUsage, type Usage } from '../../models/usage.ts';
import { field } from '../../providers/json.ts';
import { readUsage } from '../../providers/native/usage.ts';
import { SpokenText } from '../../quota/spoken-text.ts';
import { TextHold } from '../../quota/text-hold.ts';
import type { Connection } from '../connection.ts';
import type { JsonObject } from '../frames.ts';
import { failed, type Outcome } from '../session.ts';

/**
 * The running usage of a session. Some models report the sum since the start; others report each response, perhaps
 * more than once, and the sum over the response ids is the bill.
 */
class SessionUsage {
  readonly #model: CatalogueModel;
  readonly #byResponse = new Map<string, Usage>();
  #total: Usage | undefined;

  constructor(model: CatalogueModel) {
    this.#model = model;
  }

  /** Takes the `response` of a `response.done`. False when it tells no usage. */
  note(response: unknown): boolean {
    const usage = readUsage(this.#model.unit, field(response, 'usage'));
    if (usage === undefined) return false;
    if (this.#model.reported === 'response') this.#noteResponse(field(response, 'id'), usage);
    // Cumulative: it never shrinks, whatever order the reports come in.
    else if (usage.units >= (this.#total?.units ?? 0)) this.#total = usage;
    return true;
  }

  /** Takes what was heard of a response that ended without a figure. */
  assume(response: unknown, usage: Usage): void {
    if (this.#model.reported === 'response') this.#noteResponse(field(response, 'id'), usage);
    else this.#total = sumUsage(this.#total, usage, 1);
  }

  #noteResponse(id: unknown, usage: Usage): void {
    if (typeof id !== 'string') {
      this.#total = sumUsage(this.#total, usage, 1);
      return;
    }
    const before = this.#byResponse.get(id);
    if (before !== undefined && before.units >= usage.units) return;
    this.#byResponse.set(id, usage);
    this.#total = sumUsage(sumUsage(this.#total, usage, 1), before, -1);
  }

  /** All that was reported so far; undefined: nothing. */
  get total(): Usage | undefined {
    return this.#total;
  }
}

/** The provider counts kana and hangul twice as well. */
const counting = { eastAsian: true };
const standardForm = { format: 'pcm', sample_rate: 24_000, bit_rate: 128 };

/**
 * A session's place in the books: quota is held for its text, and what the provider reports is paid, with what was
 * heard beyond that.
 */
export class SessionBooks {
  readonly #hold: TextHold;
  readonly #usage: SessionUsage;
  readonly #text: SpokenText;

  constructor({ gateway, requestId, key, model, startedAt }: Connection) {
    const call = { requestId, key, operation: 'openRealtimeSocket', model, startedAt };
    this.#hold = new TextHold(gateway, call);
    this.#usage = new SessionUsage(model);
    this.#text = new SpokenText(model.unit, counting);
  }

  /** Holds quota for one more text, on top of what was reported. False when the key's quota does not cover it. */
  cover(text: string): Promise<boolean> {
    return this.#hold.cover(this.#text.maxUnits(text, this.#usage.total?.units ?? 0));
  }

  /** The text went to the provider. */
  sent(text: string): void {
    this.#text.add(text);
  }

  /** The provider is to speak, or speaks, what it has got so far. */
  begun(): void {
    this.#text.keep();
  }

  /** The provider has dropped the text that it had not begun on. */
  cleared(): void {
    this.#text.clear();
  }

  /** So much Base64 audio of that form went to the client. */
  heard(length: number, settings: JsonObject): void {
    const form = { ...settings, format: settings.response_format };
    this.#text.hear(audioSeconds(length * base64Share, form, standardForm));
  }

  /** All the audio of a part of a response is out, and this was its text. */
  named(text: unknown): void {
    if (typeof text === 'string' && text !== '') this.#text.name(text);
  }

  /** Takes the `response` of a `response.done`. */
  note(response: unknown): void {
    if (!this.#usage.note(response)) {
      const status = field(response, 'status');
      if (status === 'failed') {
        this.#text.forget();
        return;
      }
      // A provider that completed a response and told nothing is paid for its text.
      if (status === 'completed') this.#text.complete();
      this.#usage.assume(response, this.#text.unreported);
    }
    const { total } = this.#usage;
    if (total !== undefined) this.#text.report(total);
  }

  /** Charges what was reported, and what was heard beyond it unless the provider failed over it. */
  close(outcome: Outcome & { channel: string }): Promise<void> {
    const { total } = this.#usage;
    const usage = failed(outcome) ? total : sumUsage(total, this.#text.unreported);
    return this.#hold.close(usage, outcome, this.#text.bound);
  }
}
