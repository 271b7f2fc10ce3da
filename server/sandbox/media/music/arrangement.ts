import { createRandom } from '../drawing/random.ts';
import { type Bar, createBars } from './form.ts';
import { foldNote, scaleNote } from './harmony.ts';
import { instruments } from './instruments/instruments.ts';
import type { DrumName, InstrumentName } from './instruments/names.ts';
import { createMelody, type Motif, stepAt } from './melody.ts';
import type { Note, Score, SungNote } from './score.ts';
import type { SongPlan } from './song-plan.ts';
import { findStyle } from './sound.ts';
import type { Style } from './styles.ts';

/** Time for the last chord to decay, in seconds. */
const tailSeconds = 1.6;

/** Composes all notes of a song. */
export function arrange(plan: SongPlan): Score {
  return new Arranger(plan).arrange();
}

class Arranger {
  readonly #plan: SongPlan;
  readonly #style: Style;
  readonly #bars: readonly Bar[];
  readonly #beatSeconds: number;
  readonly #random: () => number;
  readonly #progressions: readonly (readonly number[])[];
  readonly #parts = new Map<InstrumentName, Note[]>();
  readonly #drums = new Map<DrumName, Pick<Note, 'start' | 'velocity'>[]>();
  readonly #sungNotes: SungNote[] = [];
  /** Number of bars before the start of this song, if it continues another one. */
  readonly #precedingBars: number;

  constructor(plan: SongPlan) {
    this.#plan = plan;
    this.#style = findStyle(plan.sound);
    this.#bars = createBars(plan);
    this.#beatSeconds = 60 / plan.sound.tempo;
    this.#random = createRandom(plan.seed);
    const { progressions, beats } = this.#style;
    const first = Math.floor(this.#random() * progressions.length);
    this.#progressions = [first, first + 1].map((index) =>
      (progressions[index % progressions.length] ?? '1').split(' ').map((degree) => Number(degree) - 1),
    );
    this.#precedingBars = Math.round(plan.startAt / (this.#beatSeconds * beats));
  }

  arrange(): Score {
    for (const [index, bar] of this.#bars.entries()) {
      const isLast = index === this.#bars.length - 1;
      const chord = isLast ? 0 : this.#chordForBar(bar, index);
      this.#addChords(index, bar, chord, isLast);
      this.#addBass(index, bar, chord, isLast);
      this.#addDrums(index, bar, isLast);
      if (bar.words.length > 0) this.#addVocals(index, bar);
      if (!bar.hasVocals) this.#addMelody(index, bar, chord, isLast);
    }
    return {
      seconds: this.#timeAt(this.#bars.length, 0) + tailSeconds,
      parts: this.#parts,
      drums: this.#drums,
      sungNotes: this.#sungNotes,
    };
  }

  /** Returns the scale degree of the chord of a bar. */
  #chordForBar(bar: Bar, index: number): number {
    const [verse = [0], chorus = verse] = this.#progressions;
    const row = bar.kind === 'chorus' || bar.kind === 'solo' ? chorus : verse;
    // A verse starts with its first chord. A continuation starts at the chord that follows the source.
    const position = this.#precedingBars > 0 ? this.#precedingBars + index : bar.index;
    return row[position % row.length] ?? 0;
  }

  /** Returns the chord tones in the octave above `lowest`, in ascending order. */
  #chordTones(chord: number, lowest: number): number[] {
    const { playingStyle, sevenths } = this.#style.chords;
    const steps = playingStyle === 'power' ? [0, 4] : sevenths ? [0, 2, 4, 6] : [0, 2, 4];
    const tones = steps.map((step) => foldNote(scaleNote(this.#plan.sound, chord + step, 4), lowest));
    // Power chords consist of root, fifth and octave.
    if (playingStyle === 'power')
      return [tones[0] ?? lowest, (tones[0] ?? lowest) + 7, (tones[0] ?? lowest) + 12];
    return tones.sort((first, second) => first - second);
  }

  #addChords(index: number, bar: Bar, chord: number, isLast: boolean): void {
    const { chords, pad, beats } = this.#style;
    const wholeBar = beats * this.#beatSeconds;
    if (pad && (bar.kind === 'chorus' || bar.kind === 'solo' || isLast || chords.instrument === 'synth pad'))
      for (const note of this.#chordTones(chord, instruments[pad].lowest))
        this.#addNote(pad, { note, start: this.#timeAt(index, 0), seconds: wholeBar, velocity: 0.6 });
    const tones = this.#chordTones(chord, instruments[chords.instrument].lowest);
    const strokes = isLast ? [0] : strokePositions(chords.rhythm);
    for (const [turn, at] of strokes.entries()) {
      const start = this.#timeAt(index, at);
      const until = isLast ? start + wholeBar : this.#timeAt(index, strokes[turn + 1] ?? beats * 4);
      const velocity = (at % 4 === 0 ? 0.85 : 0.65) * (0.9 + 0.2 * this.#random());
      const played = chords.playingStyle === 'arpeggio' && !isLast ? [arpeggioNote(tones, turn)] : tones;
      for (const [string, note] of played.entries()) {
        const delay = chords.playingStyle === 'strum' || isLast ? string * 0.014 : 0;
        const seconds = chords.playingStyle === 'arpeggio' ? Math.max(until - start, 0.3) : until - start;
        this.#addNote(chords.instrument, { note, start: start + delay, seconds, velocity });
      }
    }
  }

  #addBass(index: number, bar: Bar, chord: number, isLast: boolean): void {
    const { bass, beats } = this.#style;
    if (bar.kind === 'intro' && !isLast) return;
    const line = isLast ? '1' : bass.line;
    const strokes = strokePositions(line);
    const root = foldNote(scaleNote(this.#plan.sound, chord, 2), instruments[bass.instrument].lowest);
    for (const [turn, at] of strokes.entries()) {
      const degree = Number(line[at]) - 1;
      const above = scaleNote(this.#plan.sound, chord + degree, 2) - scaleNote(this.#plan.sound, chord, 2);
      const start = this.#timeAt(index, at);
      const until = this.#timeAt(index, strokes[turn + 1] ?? beats * 4);
      this.#addNote(bass.instrument, {
        note: root + above,
        start,
        seconds: (until - start) * 0.92,
        velocity: at % 4 === 0 ? 0.9 : 0.75,
      });
    }
  }

  #addDrums(index: number, bar: Bar, isLast: boolean): void {
    if (!this.#plan.sound.drums || bar.kind === 'intro') return;
    for (const [name, rhythm] of Object.entries(this.#style.drums) as [DrumName, string][]) {
      for (const at of isLast ? [0] : strokePositions(rhythm)) {
        const velocity = (at % 4 === 0 ? 0.95 : at % 2 === 0 ? 0.75 : 0.55) * (0.9 + 0.2 * this.#random());
        const strokes = this.#drums.get(name) ?? [];
        strokes.push({ start: this.#timeAt(index, at), velocity });
        this.#drums.set(name, strokes);
      }
    }
  }

  #addMelody(index: number, bar: Bar, chord: number, isLast: boolean): void {
    const name = this.#plan.sound.lead ?? this.#style.lead;
    const { lowest } = instruments[name];
    const perBar = this.#style.beats * 2;
    const tune = this.#motifForBar(bar);
    const from = (bar.index % 4) * perBar;
    const strokes = isLast ? [0] : range(perBar).filter((at) => tune[from + at] !== undefined);
    for (const [turn, at] of strokes.entries()) {
      const step = isLast ? 0 : stepAt(tune, from + at);
      const start = this.#timeAt(index, at * 2);
      const until = this.#timeAt(index, (strokes[turn + 1] ?? perBar) * 2);
      const note = this.#melodyNote(chord, step, lowest);
      this.#addNote(name, {
        note,
        start,
        seconds: (until - start) * 0.95,
        velocity: at % 4 === 0 ? 0.9 : 0.75,
      });
    }
  }

  #addVocals(index: number, bar: Bar): void {
    const perBar = this.#style.beats * 2;
    for (const word of bar.words) {
      const under = this.#bars[index + Math.floor(word.at / perBar)] ?? bar;
      const chord = this.#chordForBar(under, index + Math.floor(word.at / perBar));
      const step = stepAt(this.#motifForBar(bar), (bar.index % 4) * perBar + word.at);
      const start = this.#timeAt(index, word.at * 2);
      this.#sungNotes.push({
        word,
        note: this.#melodyNote(chord, step, 60),
        start,
        seconds: this.#timeAt(index, (word.at + word.length) * 2) - start,
        velocity: word.at % 4 === 0 ? 0.9 : 0.8,
      });
    }
  }

  /**
   * Returns the note of a step above the root of the chord. The root stays near the tonic, which keeps the melodic
   * line.
   */
  #melodyNote(chord: number, step: number, lowest: number): number {
    const root = chord > 3 ? chord - 7 : chord;
    const { tonic } = this.#plan.sound;
    return foldNote(tonic, lowest) + scaleNote(this.#plan.sound, root + step, 0) - tonic;
  }

  #motifForBar({ kind }: Bar): Motif {
    const { seed, weirdness } = this.#plan;
    return createMelody(kind, { seed, weirdness, perBar: this.#style.beats * 2 });
  }

  /** Returns the time of a sixteenth note in seconds. Styles with swing delay the second half of a beat. */
  #timeAt(bar: number, sixteenth: number): number {
    const late = sixteenth % 4 === 2 ? this.#style.swing : 0;
    return (bar * this.#style.beats + sixteenth / 4 + late) * this.#beatSeconds;
  }

  #addNote(name: InstrumentName, note: Note): void {
    const notes = this.#parts.get(name) ?? [];
    notes.push(note);
    this.#parts.set(name, notes);
  }
}

/** Returns the positions of the strokes in a rhythm. */
function strokePositions(rhythm: string): number[] {
  return range(rhythm.length).filter((at) => rhythm[at] !== '.');
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** Returns a note of an arpeggio that ascends and descends. */
function arpeggioNote(tones: readonly number[], turn: number): number {
  const order = [...tones, (tones[0] ?? 60) + 12];
  const position = turn % (2 * order.length - 2);
  return order[position < order.length ? position : 2 * order.length - 2 - position] ?? 60;
}
