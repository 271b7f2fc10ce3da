import type { VoiceKind } from '../../../generated/catalogue.ts';
import type { RunTask } from '../../../generated/events.ts';
import type { Failure } from '../../lib/failure.ts';
import { type AudioForm, audioSeconds, inferenceForm } from '../../models/speech-time.ts';
import { sumUsage, type Usage } from '../../models/usage.ts';
import { readUsage } from '../../providers/token-usage.ts';
import { SpokenText } from '../../quota/spoken-text.ts';
import { TextReservation } from '../../quota/text-reservation.ts';
import type { Connection } from '../connection.ts';
import { type JsonObject, objectField } from '../frames.ts';
import { isServerFailure, type Outcome } from '../session.ts';
import type { TaskFailure } from './errors.ts';
import { TextLimits } from './text-limits.ts';

/** One task of a duplex socket, with its text, usage and settlement. */
export class InferenceTask {
  readonly id: string;
  /** Kind of its voice, if the price depends on it. */
  voice: VoiceKind | undefined;
  readonly #unit: Connection['model']['unit'];
  readonly #form: AudioForm;
  readonly #text: SpokenText;
  readonly #reservation: TextReservation;
  readonly #limits: TextLimits;
  #usage: Usage | undefined;
  #audio = false;

  /** `requestId` identifies the task in the ledger. */
  constructor(connection: Connection, requestId: string, { header, payload }: RunTask) {
    const { gateway, key, model } = connection;
    this.id = header.task_id;
    this.#unit = model.unit;
    this.#form = payload.parameters;
    const ssml = payload.parameters.enable_ssml === true;
    this.#text = new SpokenText(model.unit, { ssml, pace: payload.parameters });
    this.#limits = new TextLimits(ssml);
    const startedAt = gateway.timers.monotonic();
    this.#reservation = new TextReservation(gateway, {
      requestId,
      key,
      operation: 'openInferenceSocket',
      model,
      startedAt,
      priceFields: () => ({ voice: this.voice }),
    });
  }

  /** Checks one more text against the limits. */
  check(text: string): TaskFailure | undefined {
    return this.#limits.check(text);
  }

  /** Why the quota did not cover a text. */
  get refusal(): Failure | undefined {
    return this.#reservation.refusal;
  }

  /** Reserves quota for one more text, in addition to the reported usage. Returns false if the quota is too low. */
  reserve(text: string): Promise<boolean> {
    return this.#reservation.cover(this.#text.boundWith(text, this.#usage));
  }

  /** Records text that was sent to the provider. */
  addSentText(text: string): void {
    this.#text.add(text);
    this.#text.commit();
  }

  /** Records the cumulative usage or the next sentence that a server frame reports. */
  recordFrame(frame: JsonObject): void {
    const payload = objectField(frame, 'payload');
    const usage = readUsage(this.#unit, payload.usage);
    if (usage !== undefined && usage.units >= (this.#usage?.units ?? 0)) {
      this.#usage = usage;
      this.#text.report(usage);
    }
    const { type, original_text: text } = objectField(payload, 'output');
    if (type === 'sentence-begin') this.#text.announce(typeof text === 'string' ? text : undefined);
  }

  /** Records audio sent to the client. */
  addAudio(bytes: number): void {
    this.#audio = true;
    this.#text.addAudio(audioSeconds(bytes, this.#form, inferenceForm));
  }

  /** Settles a finished task. Without any report, the whole text is charged if audio was sent. */
  finish(outcome: Outcome & { channel: string }): Promise<number | undefined> {
    if (this.#usage === undefined && this.#audio) this.#text.complete();
    return this.settle(outcome);
  }

  /** Charges the reported usage and, unless the provider or the gateway failed, the audio sent without a report. */
  settle(outcome: Outcome & { channel: string }): Promise<number | undefined> {
    const usage = isServerFailure(outcome) ? this.#usage : sumUsage(this.#usage, this.#text.unreported);
    return this.#reservation.close(usage, outcome, this.#text.bound);
  }
}
