import type { RunTask } from '../../generated/events.ts';
import type { Usage } from '../ledger/metering.ts';
import { TextHold } from '../ledger/text-hold.ts';
import { countCharacters, TextEstimate } from '../ledger/usage.ts';
import { readUsage } from '../providers/native/usage.ts';
import type { Connection } from './connection.ts';
import { inner, type JsonObject } from './frames.ts';
import { longestTask, longestText } from './limits.ts';
import { invalidParameter, type TaskFailure } from './task-errors.ts';

/** One task of a duplex socket: its text, its usage and its place in the books. */
export class SpeechTask {
  readonly id: string;
  readonly #unit: Connection['model']['unit'];
  readonly #ssml: boolean;
  readonly #estimate: TextEstimate;
  readonly #hold: TextHold;
  #texts = 0;
  #characters = 0;
  #usage: Usage | undefined;
  #audio = false;

  /** `requestId` names the task in the books. */
  constructor(connection: Connection, requestId: string, { header, payload }: RunTask) {
    const { gateway, caller, model } = connection;
    this.id = header.task_id;
    this.#unit = model.unit;
    this.#ssml = payload.parameters.enable_ssml === true;
    this.#estimate = new TextEstimate(model.unit, { ssml: this.#ssml, pace: payload.parameters });
    const startedAt = gateway.timers.monotonic();
    this.#hold = new TextHold(gateway, {
      requestId,
      caller,
      operation: 'openInferenceSocket',
      model,
      startedAt,
    });
  }

  /** Counts a text in. What is wrong with it, when it breaks a limit. */
  add(text: string): TaskFailure | undefined {
    if (text === '') return undefined;
    const field = 'payload.input.text';
    this.#texts += 1;
    if (this.#ssml && this.#texts > 1)
      return invalidParameter(`${field}: only one text is allowed with enable_ssml.`);
    const characters = countCharacters(text, { ssml: this.#ssml });
    this.#characters += characters;
    if (characters > longestText)
      return invalidParameter(`${field}: must have at most ${longestText} billing characters.`);
    if (this.#characters > longestTask)
      return invalidParameter(`${field}: one task takes at most ${longestTask} billing characters.`);
    this.#estimate.add(text);
    return undefined;
  }

  /** Holds quota for all the text so far. False when the key's quota does not cover it. */
  cover(): Promise<boolean> {
    return this.#hold.cover(Math.max(this.#estimate.units, this.#usage?.units ?? 0));
  }

  /** Takes what a server frame reports: a figure that counts from the start of the task. */
  note(frame: JsonObject): void {
    const usage = readUsage(this.#unit, inner(frame, 'payload').usage);
    if (usage !== undefined && usage.units >= (this.#usage?.units ?? 0)) this.#usage = usage;
  }

  /** Audio went to the client. */
  spoke(): void {
    this.#audio = true;
  }

  /**
   * Charges what was reported. A finished task that spoke and told nothing is paid for its text; any other is
   * free then.
   */
  close(outcome: { channel: string; status: number; errorCode?: string }): Promise<void> {
    const untold = this.#audio && outcome.errorCode === undefined && outcome.status === 200;
    const expected = { units: this.#estimate.units, inputTokens: 0, outputTokens: 0 };
    return this.#hold.close(this.#usage ?? (untold ? expected : undefined), outcome);
  }
}
