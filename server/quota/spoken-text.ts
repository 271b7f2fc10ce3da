import {
  audioTokens,
  countCharacters,
  isPlausible,
  maxSpeechUsage,
  type SpeechTextOptions,
  type Unit,
  type Usage,
  type UsageBound,
} from '../models/usage.ts';

/** Speaking rate per second, in characters and in text tokens of 4 bytes. */
const pace = { characters: 12, tokens: 3 };
/** A sentence with the punctuation and spaces after it. */
const sentences = /[^.!?。！？…\n]+[.!?。！？…\s]*|[.!?。！？…\s]+/g;
/** Maximum number of sentence ends in memory. Beyond it, the minimum gap between two ends grows. */
const maxEnds = 4096;
const minGap = 16;

type TextBound = Required<UsageBound>;

/** The end of a sentence or of a text: its position, and the upper bound of all text up to it. */
interface End {
  at: number;
  max: TextBound;
}

const none: TextBound = { units: 0, maxOutputTokens: 0 };

/** Adds two bounds. With `sign` -1, subtracts the second one. */
function sum(left: TextBound, right: TextBound, sign: 1 | -1 = 1): TextBound {
  return {
    units: left.units + sign * right.units,
    maxOutputTokens: left.maxOutputTokens + sign * right.maxOutputTokens,
  };
}

/**
 * Tracks text that is sent to a provider in chunks: how much of it is spoken but not covered by a usage report yet. The
 * client may disconnect before the provider reports.
 */
export class SpokenText {
  readonly #unit: Unit;
  readonly #options: SpeechTextOptions;
  /** Ends beyond the reported text. Positions are in characters or text tokens. */
  #ends: End[] = [];
  /** Minimum distance between two ends. */
  #gap = 0;
  #sent: End = { at: 0, max: none };
  #reported: End = { at: 0, max: none };
  /** Lower bound of the text that the last report covers. */
  #covered: End = { at: 0, max: none };
  /** Last reported figure, as the provider counts. */
  #lastFigure = 0;
  /** Text that `clear` does not remove. */
  #committed: End = { at: 0, max: none };
  /** Spoken text beyond the report, as far as the provider named it. */
  #attributed = 0;
  #announced: number | undefined;
  /** Seconds of audio beyond the report, and the part of them whose text is unknown. */
  #seconds = 0;
  #unattributedSeconds = 0;
  #isAttributed = false;

  constructor(unit: Unit, options: SpeechTextOptions = {}) {
    this.#unit = unit;
    this.#options = options;
  }

  /** Adds a text that was sent to the provider. */
  add(text: string): void {
    if (text === '') return;
    const { at, max } = this.#sent;
    this.#sent = { at, max: sum(max, this.#boundOf(text)) };
    const parts = this.#options.ssml ? [text] : (text.match(sentences) ?? []);
    for (const [index, part] of parts.entries()) {
      const last = index === parts.length - 1;
      this.#sent = { at: this.#sent.at + this.#measure(part), max: this.#sent.max };
      // If a report covers a text in part, the rest may still take all of its units.
      this.#push(last ? this.#sent : { at: this.#sent.at, max });
    }
    if (this.#ends.length <= maxEnds) return;
    this.#gap = Math.max(minGap, this.#gap * 2);
    for (const end of this.#ends.splice(0)) this.#push(end);
  }

  #push(end: End): void {
    const begin = this.#ends.at(-2) ?? this.#reported;
    const last = this.#ends.at(-1);
    if (last !== undefined && last.at - begin.at < this.#gap) this.#ends.pop();
    this.#ends.push(end);
  }

  /** Marks all text so far as started: the provider speaks it or was asked to. */
  commit(): void {
    this.#committed = this.#sent;
  }

  /** Removes the text that the provider has dropped because it had not started on it. */
  clear(): void {
    this.#sent = this.#committed.at > this.#reported.at ? this.#committed : this.#reported;
    this.#ends = this.#ends.filter(({ at }) => at <= this.#sent.at);
  }

  /** Sets the text of the audio that follows. Undefined: unknown. */
  announce(text: string | undefined): void {
    this.#announced = text === undefined ? undefined : this.#measure(text);
    this.#isAttributed = false;
  }

  /** Adds audio that was sent to the client. */
  addAudio(seconds: number): void {
    this.#seconds += seconds;
    if (this.#announced !== undefined) {
      this.#attributed += this.#announced;
      this.#announced = undefined;
      this.#isAttributed = true;
    }
    if (!this.#isAttributed) this.#unattributedSeconds += seconds;
  }

  /** Sets the text of the audio whose text was unknown. */
  attribute(text: string): void {
    this.#attributed += this.#measure(text);
    this.#unattributedSeconds = 0;
  }

  /** Marks all started text as spoken. */
  complete(): void {
    this.#attributed = Math.max(this.#attributed, this.#committed.at - this.#reported.at);
    this.#unattributedSeconds = 0;
  }

  /**
   * Applies a cumulative usage report, which covers all audio so far. A provider may count slightly differently, so the
   * report is taken to reach to the nearest end of a sentence.
   */
  report({ units, inputTokens }: Usage): void {
    const figure = this.#unit === 'tokens' ? inputTokens : units;
    const at = this.#reported.at + Math.max(0, figure - this.#lastFigure);
    this.#lastFigure = Math.max(figure, this.#lastFigure);
    const after = this.#ends.findIndex((end) => end.at > at);
    const [low = this.#reported, high] =
      after < 0 ? [this.#ends.at(-1)] : [this.#ends[after - 1], this.#ends[after]];
    // A distance below one unit is a rounding difference.
    this.#covered = high !== undefined && high.at - at < 1 ? high : low;
    this.#reported = high !== undefined && high.at - at < at - low.at ? high : low;
    this.#ends = this.#ends.filter((end) => end.at > this.#reported.at);
    if (this.#ends.length === 0) this.#gap = 0;
    this.discardUnreported();
  }

  /** Discards the audio beyond the report, because the provider failed on it and it is not charged. */
  discardUnreported(): void {
    this.#attributed = 0;
    this.#seconds = 0;
    this.#unattributedSeconds = 0;
    this.#announced = undefined;
    this.#isAttributed = false;
  }

  /** Upper bound of all text sent to the provider. */
  get bound(): TextBound {
    return this.#sent.max;
  }

  /**
   * Returns the upper bound of all text plus `text`, given the usage that the provider has reported. An implausible report is not
   * charged, so it does not raise the bound.
   */
  boundWith(text: string, reported?: Usage): TextBound {
    const added = this.#boundOf(text);
    const { units, outputTokens } =
      reported !== undefined && isPlausible(reported.units, this.bound.units + added.units)
        ? reported
        : { units: 0, outputTokens: 0 };
    if (this.#unit !== 'tokens')
      return { units: Math.max(this.bound.units, units) + added.units, maxOutputTokens: 0 };
    const unreported = sum(this.#sent.max, this.#covered.max, -1);
    return sum({ units, maxOutputTokens: outputTokens }, sum(unreported, added));
  }

  /** Usage that was spoken but not reported. A sentence that has started counts in full. */
  get unreported(): Usage {
    const text = Math.ceil(this.#spokenUpTo() - this.#reported.at);
    if (this.#unit !== 'tokens') {
      const unreported = this.#sent.at - this.#lastFigure;
      // Together with the report it does not exceed the sent text, unless the provider counts higher.
      return { units: unreported < 0 ? text : Math.min(text, unreported), inputTokens: 0, outputTokens: 0 };
    }
    const output = this.#seconds > 0 || text > 0 ? audioTokens(this.#seconds) : 0;
    return { units: text + output, inputTokens: text, outputTokens: output };
  }

  #spokenUpTo(): number {
    const known = Math.min(this.#reported.at + this.#attributed, this.#sent.at);
    if (this.#unattributedSeconds === 0) return Math.max(known, this.#reported.at);
    const at = known + this.#unattributedSeconds * (this.#unit === 'tokens' ? pace.tokens : pace.characters);
    return this.#ends.find((end) => end.at >= at)?.at ?? this.#sent.at;
  }

  #measure(text: string): number {
    return this.#unit === 'tokens' ? Buffer.byteLength(text) / 4 : countCharacters(text, this.#options);
  }

  #boundOf(text: string): TextBound {
    return maxSpeechUsage(this.#unit, text, this.#options);
  }
}
