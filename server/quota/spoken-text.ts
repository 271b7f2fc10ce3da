import {
  audioTokens,
  countCharacters,
  isPlausible,
  maxSpeechUnits,
  type SpeechTextOptions,
  type Unit,
  type Usage,
} from '../models/usage.ts';

/** How quickly text is spoken, a second: characters, and text tokens of 4 bytes each. */
const pace = { characters: 12, tokens: 3 };
/** A sentence with the signs and blanks after it. */
const sentences = /[^.!?。！？…\n]+[.!?。！？…\s]*|[.!?。！？…\s]+/g;
/** Ends that are kept at the most; of more, some are left out, so far apart that all fit. */
const maxEnds = 4096;
const leastGap = 16;

/** The end of a sentence or of a text: where it stands, and the most units that all text up to it takes. */
interface End {
  at: number;
  max: number;
}

/**
 * The text that went to a provider bit by bit: how much of it no report covers yet, and how much of that was heard.
 * A provider reports late, and a client may leave before.
 */
export class SpokenText {
  readonly #unit: Unit;
  readonly #options: SpeechTextOptions;
  /** Ends beyond what was reported. Places are counted in characters or text tokens. */
  #ends: End[] = [];
  /** Distance between two ends. */
  #gap = 0;
  #given: End = { at: 0, max: 0 };
  #reported: End = { at: 0, max: 0 };
  /** Up to here a report covers the text for certain. */
  #covered: End = { at: 0, max: 0 };
  /** The last figure, as the provider counts. */
  #figure = 0;
  /** What a `clear` leaves. */
  #kept: End = { at: 0, max: 0 };
  /** Text beyond what was reported that the provider named as heard. */
  #named = 0;
  #announced: number | undefined;
  /** Seconds of audio that no report covers, and of these the ones whose text is not known. */
  #seconds = 0;
  #nameless = 0;
  #inNamed = false;

  constructor(unit: Unit, options: SpeechTextOptions = {}) {
    this.#unit = unit;
    this.#options = options;
  }

  /** One more text went to the provider. */
  add(text: string): void {
    if (text === '') return;
    const { at, max: maxUnits } = this.#given;
    this.#given = { at, max: maxUnits + this.#maxUnits(text) };
    const parts = this.#options.ssml ? [text] : (text.match(sentences) ?? []);
    for (const [index, part] of parts.entries()) {
      const last = index === parts.length - 1;
      this.#given = { at: this.#given.at + this.#measure(part), max: this.#given.max };
      // Where a text is reported in part, the rest of it may still take all.
      this.#push(last ? this.#given : { at: this.#given.at, max: maxUnits });
    }
    if (this.#ends.length <= maxEnds) return;
    this.#gap = Math.max(leastGap, this.#gap * 2);
    for (const end of this.#ends.splice(0)) this.#push(end);
  }

  #push(end: End): void {
    const begin = this.#ends.at(-2) ?? this.#reported;
    const last = this.#ends.at(-1);
    if (last !== undefined && last.at - begin.at < this.#gap) this.#ends.pop();
    this.#ends.push(end);
  }

  /** The provider has begun on what was given so far, or was asked to. */
  keep(): void {
    this.#kept = this.#given;
  }

  /** The provider has thrown away what it had not begun on. */
  clear(): void {
    this.#given = this.#kept.at > this.#reported.at ? this.#kept : this.#reported;
    this.#ends = this.#ends.filter(({ at }) => at <= this.#given.at);
  }

  /** The audio that follows speaks this text; undefined: it is not known which. */
  announce(text: string | undefined): void {
    this.#announced = text === undefined ? undefined : this.#measure(text);
    this.#inNamed = false;
  }

  /** Audio went to the client. */
  hear(seconds: number): void {
    this.#seconds += seconds;
    if (this.#announced !== undefined) {
      this.#named += this.#announced;
      this.#announced = undefined;
      this.#inNamed = true;
    }
    if (!this.#inNamed) this.#nameless += seconds;
  }

  /** What was heard without a name spoke this text. */
  name(text: string): void {
    this.#named += this.#measure(text);
    this.#nameless = 0;
  }

  /** All that the provider was asked to speak was spoken. */
  complete(): void {
    this.#named = Math.max(this.#named, this.#kept.at - this.#reported.at);
    this.#nameless = 0;
  }

  /**
   * A figure for all so far covers what was heard. A provider may count a little otherwise, so what it counted since
   * the last one is taken to reach to the nearest end of a sentence.
   */
  report({ units, inputTokens }: Usage): void {
    const figure = this.#unit === 'tokens' ? inputTokens : units;
    const at = this.#reported.at + Math.max(0, figure - this.#figure);
    this.#figure = Math.max(figure, this.#figure);
    const after = this.#ends.findIndex((end) => end.at > at);
    const [low = this.#reported, high] =
      after < 0 ? [this.#ends.at(-1)] : [this.#ends[after - 1], this.#ends[after]];
    // Less than a unit is a matter of rounding.
    this.#covered = high !== undefined && high.at - at < 1 ? high : low;
    this.#reported = high !== undefined && high.at - at < at - low.at ? high : low;
    this.#ends = this.#ends.filter((end) => end.at > this.#reported.at);
    if (this.#ends.length === 0) this.#gap = 0;
    this.forget();
  }

  /** What was heard without a report is not to be paid: the provider failed over it. */
  forget(): void {
    this.#named = 0;
    this.#seconds = 0;
    this.#nameless = 0;
    this.#announced = undefined;
    this.#inNamed = false;
  }

  /** Upper bound of the units of all text that went to the provider. */
  get bound(): number {
    return this.#given.max;
  }

  /**
   * Upper bound of the units of all text with one more, given the units that the provider reported so far. A report
   * that is a fault of the provider is not charged, so it raises nothing.
   */
  maxUnits(text: string, reported: number): number {
    const more = this.#maxUnits(text);
    const plausible = isPlausible(reported, this.bound + more) ? reported : 0;
    if (this.#unit !== 'tokens') return Math.max(this.bound, plausible) + more;
    return plausible + this.#given.max - this.#covered.max + more;
  }

  /** What was heard and not reported: of a sentence that has begun, all. */
  get unreported(): Usage {
    const text = Math.ceil(this.#heardUpTo() - this.#reported.at);
    if (this.#unit !== 'tokens') {
      const left = this.#given.at - this.#figure;
      // With what was reported it is no more than was given, unless the provider counts higher.
      return { units: left < 0 ? text : Math.min(text, left), inputTokens: 0, outputTokens: 0 };
    }
    const output = this.#seconds > 0 || text > 0 ? audioTokens(this.#seconds) : 0;
    return { units: text + output, inputTokens: text, outputTokens: output };
  }

  #heardUpTo(): number {
    const known = Math.min(this.#reported.at + this.#named, this.#given.at);
    if (this.#nameless === 0) return Math.max(known, this.#reported.at);
    const at = known + this.#nameless * (this.#unit === 'tokens' ? pace.tokens : pace.characters);
    return this.#ends.find((end) => end.at >= at)?.at ?? this.#given.at;
  }

  #measure(text: string): number {
    return this.#unit === 'tokens' ? Buffer.byteLength(text) / 4 : countCharacters(text, this.#options);
  }

  #maxUnits(text: string): number {
    return maxSpeechUnits(this.#unit, text, this.#options);
  }
}
