import { countCharacters } from '../../models/usage.ts';
import { maxTaskLength, maxTextLength } from '../limits.ts';
import { invalidParameter, type TaskFailure } from './errors.ts';

const field = 'payload.input.text';

/** The limits of the texts of one task. */
export class TextLimits {
  readonly #ssml: boolean;
  #texts = 0;
  #characters = 0;

  constructor(ssml: boolean) {
    this.#ssml = ssml;
  }

  /** Checks one more text. */
  check(text: string): TaskFailure | undefined {
    if (text === '') return undefined;
    this.#texts += 1;
    if (this.#ssml && this.#texts > 1)
      return invalidParameter(`${field}: must be sent only once with enable_ssml.`);
    const characters = countCharacters(text, { ssml: this.#ssml });
    this.#characters += characters;
    if (characters > maxTextLength)
      return invalidParameter(`${field}: must have at most ${maxTextLength} billing characters.`);
    if (this.#characters > maxTaskLength)
      return invalidParameter(`${field}: must have at most ${maxTaskLength} billing characters in one task.`);
    return undefined;
  }
}
