import type { RunTask } from '../../../generated/events.ts';
import { type AudioForm, audioSeconds, inferenceForm } from '../../models/speech-time.ts';
import { countCharacters, sumUsage, type Usage } from '../../models/usage.ts';
import { readUsage } from '../../providers/native/usage.ts';
import { SpokenText } from '../../quota/spoken-text.ts';
import { TextHold } from '../../quota/text-hold.ts';
import type { Connection } from '../connection.ts';
import { inner, type JsonObject } from '../frames.ts';
import { maxTaskLength, maxTextLength } from '../limits.ts';
import { failed, type Outcome } from '../session.ts';
import { invalidParameter, type TaskFailure } from './errors.ts';

/** One task of a duplex socket: its text, its usage and its place in the books. */
export class InferenceTask {
  readonly id: string;
  readonly #unit: Connection['model']['unit'];
  readonly #ssml: boolean;
  readonly #form: AudioForm;
  readonly #text: SpokenText;
  readonly #hold: TextHold;
  #texts = 0;
  #characters = 0;
  #usage: Usage | undefined;
  #audio = false;

  /** `requestId` names the task in the books. */
  constructor(connection: Connection, requestId: string, { header, payload }: RunTask) {
    const { gateway, key, model } = connection;
    this.id = header.task_id;
    this.#unit = model.unit;
    this.#form = payload.parameters;
    this.#ssml = payload.parameters.enable_ssml === true;
    this.#text = new SpokenText(model.unit, { ssml: this.#ssml, pace: payload.parameters });
    const startedAt = gateway.timers.monotonic();
    this.#hold = new TextHold(gateway, {
      requestId,
      key,
      operation: 'openInferenceSocket',
      model,
      startedAt,
    });
  }

  /** What is wrong with one more text, when it breaks a limit. */
  check(text: string): TaskFailure | undefined {
    if (text === '') return undefined;
    const field = 'payload.input.text';
    this.#texts += 1;
    if (this.#ssml && this.#texts > 1)
      return invalidParameter(`${field}: only one text is allowed with enable_ssml.`);
    const characters = countCharacters(text, { ssml: this.#ssml });
    this.#characters += characters;
    if (characters > maxTextLength)
      return invalidParameter(`${field}: must have at most ${maxTextLength} billing characters.`);
    if (this.#characters > maxTaskLength)
      return invalidParameter(`${field}: one task takes at most ${maxTaskLength} billing characters.`);
    return undefined;
  }

  /** Holds quota for one more text, on top of what was reported. False when the key's quota does not cover it. */
  cover(text: string): Promise<boolean> {
    return this.#hold.cover(this.#text.maxUnits(text, this.#usage?.units ?? 0));
  }

  /** The text went to the provider. */
  sent(text: string): void {
    this.#text.add(text);
    this.#text.keep();
  }

  /** Takes what a server frame reports: a figure that counts from the start of the task, or what is spoken next. */
  note(frame: JsonObject): void {
    const payload = inner(frame, 'payload');
    const usage = readUsage(this.#unit, payload.usage);
    if (usage !== undefined && usage.units >= (this.#usage?.units ?? 0)) {
      this.#usage = usage;
      this.#text.report(usage);
    }
    const { type, original_text: text } = inner(payload, 'output');
    if (type === 'sentence-begin') this.#text.announce(typeof text === 'string' ? text : undefined);
  }

  /** So many bytes of audio went to the client. */
  heard(bytes: number): void {
    this.#audio = true;
    this.#text.hear(audioSeconds(bytes, this.#form, inferenceForm));
  }

  /** Charges what was reported. A provider that finished and never reported anything is paid for the text it spoke. */
  finish(outcome: Outcome & { channel: string }): Promise<void> {
    if (this.#usage === undefined && this.#audio) this.#text.complete();
    return this.close(outcome);
  }

  /** Charges what was reported, and what was heard beyond it unless the provider failed over it. */
  close(outcome: Outcome & { channel: string }): Promise<void> {
    const usage = failed(outcome) ? this.#usage : sumUsage(this.#usage, this.#text.unreported);
    return this.#hold.close(usage, outcome, this.#text.bound);
  }
}
