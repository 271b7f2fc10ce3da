import { chance } from '../drawing/chance.ts';
import { type Bar, layOut } from './form.ts';
import { foldNote, scaleNote } from './harmony.ts';
import { instruments } from './instruments/instruments.ts';
import type { DrumName, InstrumentName } from './instruments/names.ts';
import { type Motif, stepAt, tuneOf } from './melody.ts';
import type { Note, Score, SungNote } from './score.ts';
import type { SongPlan } from './song-plan.ts';
import { styleOf } from './sound.ts';
import type { Style } from './styles.ts';

/** Seconds for the last chord to die away. */
const tail = 1.6;

/** Writes down every note of a song. */
export function arrange(plan: SongPlan): Score {
  return new Arranger(plan).arrange();
}

class Arranger {
  readonly #plan: SongPlan;
  readonly #style: Style;
  readonly #bars: readonly Bar[];
  readonly #beat: number;
  readonly #next: () => number;
  readonly #progressions: readonly (readonly number[])[];
  readonly #parts = new Map<InstrumentName, Note[]>();
  readonly #drums = new Map<DrumName, Pick<Note, 'start' | 'velocity'>[]>();
  readonly #singing: SungNote[] = [];
  /** Bars of the song that this one continues. */
  readonly #barsBefore: number;

  constructor(plan: SongPlan) {
    this.#plan = plan;
    this.#style = styleOf(plan.sound);
    this.#bars = layOut(plan);
    this.#beat = 60 / plan.sound.tempo;
    this.#next = chance(plan.seed);
    const { progressions, beats } = this.#style;
    const first = Math.floor(this.#next() * progressions.length);
    this.#progressions = [first, first + 1].map((index) =>
      (progressions[index % progressions.length] ?? '1').split(' ').map((degree) => Number(degree) - 1),
    );
    this.#barsBefore = Math.round(plan.startAt / (this.#beat * beats));
  }

  arrange(): Score {
    for (const [index, bar] of this.#bars.entries()) {
      const isLast = index === this.#bars.length - 1;
      const chord = isLast ? 0 : this.#chordOf(bar, index);
      this.#playChords(index, bar, chord, isLast);
      this.#playBass(index, bar, chord, isLast);
      this.#playDrums(index, bar, isLast);
      if (bar.words.length > 0) this.#sing(index, bar);
      if (!bar.sung) this.#playTune(index, bar, chord, isLast);
    }
    return {
      seconds: this.#timeOf(this.#bars.length, 0) + tail,
      parts: this.#parts,
      drums: this.#drums,
      singing: this.#singing,
    };
  }

  /** Degree of the chord of a bar. */
  #chordOf(bar: Bar, index: number): number {
    const [verse = [0], chorus = verse] = this.#progressions;
    const row = bar.kind === 'chorus' || bar.kind === 'solo' ? chorus : verse;
    // Verses begin with their first chord; a continuation goes on where it was.
    const place = this.#barsBefore > 0 ? this.#barsBefore + index : bar.index;
    return row[place % row.length] ?? 0;
  }

  /** Chord tones in the octave from `lowest` on, the lowest first. */
  #tonesOf(chord: number, lowest: number): number[] {
    const { manner, sevenths } = this.#style.chords;
    const steps = manner === 'power' ? [0, 4] : sevenths ? [0, 2, 4, 6] : [0, 2, 4];
    const tones = steps.map((step) => foldNote(scaleNote(this.#plan.sound, chord + step, 4), lowest));
    // Power chords stand on their root.
    if (manner === 'power') return [tones[0] ?? lowest, (tones[0] ?? lowest) + 7, (tones[0] ?? lowest) + 12];
    return tones.sort((first, second) => first - second);
  }

  #playChords(index: number, bar: Bar, chord: number, isLast: boolean): void {
    const { chords, pad, beats } = this.#style;
    const wholeBar = beats * this.#beat;
    if (pad && (bar.kind === 'chorus' || bar.kind === 'solo' || isLast || chords.instrument === 'synth pad'))
      for (const note of this.#tonesOf(chord, instruments[pad].lowest))
        this.#add(pad, { note, start: this.#timeOf(index, 0), seconds: wholeBar, velocity: 0.6 });
    const tones = this.#tonesOf(chord, instruments[chords.instrument].lowest);
    const strokes = isLast ? [0] : strokesOf(chords.rhythm);
    for (const [turn, at] of strokes.entries()) {
      const start = this.#timeOf(index, at);
      const until = isLast ? start + wholeBar : this.#timeOf(index, strokes[turn + 1] ?? beats * 4);
      const velocity = (at % 4 === 0 ? 0.85 : 0.65) * (0.9 + 0.2 * this.#next());
      const played = chords.manner === 'arpeggio' && !isLast ? [arpeggio(tones, turn)] : tones;
      for (const [string, note] of played.entries()) {
        const delay = chords.manner === 'strum' || isLast ? string * 0.014 : 0;
        const seconds = chords.manner === 'arpeggio' ? Math.max(until - start, 0.3) : until - start;
        this.#add(chords.instrument, { note, start: start + delay, seconds, velocity });
      }
    }
  }

  #playBass(index: number, bar: Bar, chord: number, isLast: boolean): void {
    const { bass, beats } = this.#style;
    if (bar.kind === 'intro' && !isLast) return;
    const line = isLast ? '1' : bass.line;
    const strokes = strokesOf(line);
    const root = foldNote(scaleNote(this.#plan.sound, chord, 2), instruments[bass.instrument].lowest);
    for (const [turn, at] of strokes.entries()) {
      const degree = Number(line[at]) - 1;
      const above = scaleNote(this.#plan.sound, chord + degree, 2) - scaleNote(this.#plan.sound, chord, 2);
      const start = this.#timeOf(index, at);
      const until = this.#timeOf(index, strokes[turn + 1] ?? beats * 4);
      this.#add(bass.instrument, {
        note: root + above,
        start,
        seconds: (until - start) * 0.92,
        velocity: at % 4 === 0 ? 0.9 : 0.75,
      });
    }
  }

  #playDrums(index: number, bar: Bar, isLast: boolean): void {
    if (!this.#plan.sound.drums || bar.kind === 'intro') return;
    for (const [name, rhythm] of Object.entries(this.#style.drums) as [DrumName, string][]) {
      for (const at of isLast ? [0] : strokesOf(rhythm)) {
        const velocity = (at % 4 === 0 ? 0.95 : at % 2 === 0 ? 0.75 : 0.55) * (0.9 + 0.2 * this.#next());
        const strokes = this.#drums.get(name) ?? [];
        strokes.push({ start: this.#timeOf(index, at), velocity });
        this.#drums.set(name, strokes);
      }
    }
  }

  #playTune(index: number, bar: Bar, chord: number, isLast: boolean): void {
    const name = this.#plan.sound.lead ?? this.#style.lead;
    const { lowest } = instruments[name];
    const perBar = this.#style.beats * 2;
    const tune = this.#tuneOf(bar);
    const from = (bar.index % 4) * perBar;
    const strokes = isLast ? [0] : rangeOf(perBar).filter((at) => tune[from + at] !== undefined);
    for (const [turn, at] of strokes.entries()) {
      const step = isLast ? 0 : stepAt(tune, from + at);
      const start = this.#timeOf(index, at * 2);
      const until = this.#timeOf(index, (strokes[turn + 1] ?? perBar) * 2);
      const note = this.#tuneNote(chord, step, lowest);
      this.#add(name, { note, start, seconds: (until - start) * 0.95, velocity: at % 4 === 0 ? 0.9 : 0.75 });
    }
  }

  #sing(index: number, bar: Bar): void {
    const perBar = this.#style.beats * 2;
    for (const word of bar.words) {
      const under = this.#bars[index + Math.floor(word.at / perBar)] ?? bar;
      const chord = this.#chordOf(under, index + Math.floor(word.at / perBar));
      const step = stepAt(this.#tuneOf(bar), (bar.index % 4) * perBar + word.at);
      const start = this.#timeOf(index, word.at * 2);
      this.#singing.push({
        word,
        note: this.#tuneNote(chord, step, 60),
        start,
        seconds: this.#timeOf(index, (word.at + word.length) * 2) - start,
        velocity: word.at % 4 === 0 ? 0.9 : 0.8,
      });
    }
  }

  /** A step above the chord's root, which is never far from the tonic, so that the tune keeps its line. */
  #tuneNote(chord: number, step: number, lowest: number): number {
    const root = chord > 3 ? chord - 7 : chord;
    const { tonic } = this.#plan.sound;
    return foldNote(tonic, lowest) + scaleNote(this.#plan.sound, root + step, 0) - tonic;
  }

  #tuneOf({ kind }: Bar): Motif {
    const { seed, weirdness } = this.#plan;
    return tuneOf(kind, { seed, weirdness, perBar: this.#style.beats * 2 });
  }

  /** Seconds at a sixteenth of a bar; the second half of a beat comes late in styles that swing. */
  #timeOf(bar: number, sixteenth: number): number {
    const late = sixteenth % 4 === 2 ? this.#style.swing : 0;
    return (bar * this.#style.beats + sixteenth / 4 + late) * this.#beat;
  }

  #add(name: InstrumentName, note: Note): void {
    const notes = this.#parts.get(name) ?? [];
    notes.push(note);
    this.#parts.set(name, notes);
  }
}

/** Where a rhythm has strokes. */
function strokesOf(rhythm: string): number[] {
  return rangeOf(rhythm.length).filter((at) => rhythm[at] !== '.');
}

function rangeOf(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** Up and down again. */
function arpeggio(tones: readonly number[], turn: number): number {
  const order = [...tones, (tones[0] ?? 60) + 12];
  const place = turn % (2 * order.length - 2);
  return order[place < order.length ? place : 2 * order.length - 2 - place] ?? 60;
}
