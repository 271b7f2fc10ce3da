import { createBell } from './bell.ts';
import type { Family, InstrumentName } from './names.ts';
import { createPluck } from './pluck.ts';
import type { PlayNote } from './tone.ts';
import { createWavetable } from './wavetable.ts';

export interface Instrument {
  family: Family;
  play: PlayNote;
  /** Lowest MIDI note number of its preferred octave. */
  lowest: number;
  /** Level relative to the other instruments, in decibels. */
  level: number;
  /** Stereo position from -1 (left) to 1 (right). */
  pan: number;
  /** Gain before the distortion, which is applied to all notes together. */
  drive?: number;
}

const saw = (number: number) => 1 / number;
const odd = (number: number) => (number % 2 === 1 ? 1 / number : 0);
const bowed = { darkness: 0.88, darkening: 0.25, sustain: 0.85 };
const blown = { darkness: 0.8, darkening: 0.18, decay: 0.3, sustain: 0.8, release: 0.09 };

export const instruments: Readonly<Record<InstrumentName, Instrument>> = {
  'steel guitar': {
    family: 'Guitar',
    play: createPluck({ decay: 2.4, brightness: 0.75, release: 0.12 }),
    lowest: 48,
    level: -20,
    pan: -0.35,
  },
  'nylon guitar': {
    family: 'Guitar',
    play: createPluck({ decay: 1.6, brightness: 0.35, release: 0.1 }),
    lowest: 50,
    level: -20,
    pan: -0.3,
  },
  'overdriven guitar': {
    family: 'Guitar',
    play: createPluck({ decay: 3, brightness: 0.8, release: 0.05 }),
    lowest: 43,
    level: -20,
    pan: -0.4,
    drive: 6,
  },
  'distorted guitar': {
    family: 'Guitar',
    play: createPluck({ decay: 4, brightness: 0.9, release: 0.03 }),
    lowest: 38,
    level: -19,
    pan: -0.4,
    drive: 24,
  },
  'electric guitar': {
    family: 'Guitar',
    play: createPluck({ decay: 4, brightness: 0.7, release: 0.08 }),
    lowest: 64,
    level: -20,
    pan: 0.3,
    drive: 3,
  },
  'screaming guitar': {
    family: 'Guitar',
    play: createPluck({ decay: 6, brightness: 0.9, release: 0.06 }),
    lowest: 67,
    level: -20,
    pan: 0.3,
    drive: 14,
  },
  banjo: {
    family: 'Guitar',
    play: createPluck({ decay: 0.7, brightness: 1, release: 0.05 }),
    lowest: 64,
    level: -21,
    pan: 0.35,
  },
  harp: {
    family: 'Strings',
    play: createPluck({ decay: 2.8, brightness: 0.45, release: 0.8 }),
    lowest: 55,
    level: -21,
    pan: -0.25,
  },
  'upright bass': {
    family: 'Bass',
    play: createPluck({ decay: 1.4, brightness: 0.2, release: 0.06 }),
    lowest: 29,
    level: -18,
    pan: 0,
  },
  'electric bass': {
    family: 'Bass',
    play: createPluck({ decay: 3, brightness: 0.45, release: 0.04 }),
    lowest: 28,
    level: -17,
    pan: 0,
  },
  'synth bass': {
    family: 'Bass',
    play: createWavetable({
      harmonic: saw,
      darkness: 0.7,
      darkening: 0.12,
      attack: 0.004,
      decay: 0.2,
      sustain: 0.6,
      release: 0.03,
      detune: 0.08,
    }),
    lowest: 30,
    level: -17,
    pan: 0,
  },
  'sub bass': {
    family: 'Bass',
    play: createWavetable({
      harmonic: (number) => 0.3 ** (number - 1),
      darkness: 0.6,
      darkening: 0.2,
      attack: 0.01,
      decay: 0.9,
      sustain: 0.5,
      release: 0.08,
    }),
    lowest: 29,
    level: -17,
    pan: 0,
  },
  piano: {
    family: 'Keyboard',
    play: createWavetable({
      harmonic: (number) => 1 / number ** 1.35,
      darkness: 0.72,
      darkening: 0.35,
      attack: 0.003,
      decay: 0.9,
      sustain: 0.05,
      release: 0.18,
      detune: 0.03,
    }),
    lowest: 55,
    level: -20,
    pan: 0.2,
  },
  'electric piano': {
    family: 'Keyboard',
    play: createBell({ ratio: 1, depth: 0.22, modulationDecay: 0.5, decay: 1.1, release: 0.12 }),
    lowest: 55,
    level: -20,
    pan: 0.25,
  },
  organ: {
    family: 'Keyboard',
    play: createWavetable({
      harmonic: (number) => [0, 1, 0.9, 0.6, 0.5, 0, 0.3, 0, 0.35][number] ?? 0,
      darkness: 1,
      darkening: 1,
      attack: 0.012,
      decay: 1,
      sustain: 1,
      release: 0.05,
      vibrato: 0.08,
    }),
    lowest: 55,
    level: -22,
    pan: 0.3,
  },
  'music box': {
    family: 'Keyboard',
    play: createBell({ ratio: 5.4, depth: 0.2, modulationDecay: 0.08, decay: 0.7, release: 0.6 }),
    lowest: 79,
    level: -20,
    pan: 0.15,
  },
  bell: {
    family: 'Synth',
    play: createBell({ ratio: 3.5, depth: 0.35, modulationDecay: 0.3, decay: 1.2, release: 1 }),
    lowest: 72,
    level: -22,
    pan: 0.25,
  },
  strings: {
    family: 'Strings',
    play: createWavetable({
      ...bowed,
      harmonic: saw,
      attack: 0.18,
      decay: 1,
      release: 0.35,
      vibrato: 0.12,
      detune: 0.18,
    }),
    lowest: 58,
    level: -25,
    pan: -0.2,
  },
  violin: {
    family: 'Strings',
    play: createWavetable({ ...bowed, harmonic: saw, attack: 0.07, decay: 0.8, release: 0.12, vibrato: 0.3 }),
    lowest: 69,
    level: -20,
    pan: 0.2,
  },
  cello: {
    family: 'Strings',
    play: createWavetable({
      ...bowed,
      harmonic: saw,
      darkness: 0.75,
      attack: 0.06,
      decay: 1,
      release: 0.2,
      vibrato: 0.15,
    }),
    lowest: 36,
    level: -20,
    pan: 0.1,
  },
  flute: {
    family: 'Woodwinds',
    play: createWavetable({
      ...blown,
      harmonic: (number) => 0.28 ** (number - 1),
      attack: 0.06,
      vibrato: 0.22,
    }),
    lowest: 72,
    level: -21,
    pan: 0.2,
  },
  saxophone: {
    family: 'Woodwinds',
    play: createWavetable({
      ...blown,
      harmonic: (number) => 1 / (1 + (number - 2) ** 2 * 0.35),
      attack: 0.035,
      vibrato: 0.25,
    }),
    lowest: 62,
    level: -20,
    pan: 0.15,
  },
  harmonica: {
    family: 'Woodwinds',
    play: createWavetable({
      ...blown,
      harmonic: (number) => (number % 2 === 1 ? 1 : 0.5) / number ** 0.8,
      attack: 0.05,
      vibrato: 0.3,
      detune: 0.06,
    }),
    lowest: 67,
    level: -22,
    pan: 0.15,
  },
  trumpet: {
    family: 'Brass',
    play: createWavetable({
      ...blown,
      harmonic: (number) => 1 / (1 + (number - 3) ** 2 * 0.12),
      attack: 0.03,
      vibrato: 0.12,
    }),
    lowest: 65,
    level: -20,
    pan: 0.2,
  },
  horn: {
    family: 'Brass',
    play: createWavetable({
      ...blown,
      harmonic: (number) => 0.55 ** (number - 1),
      attack: 0.09,
      vibrato: 0.06,
    }),
    lowest: 57,
    level: -20,
    pan: 0.15,
  },
  'synth lead': {
    family: 'Synth',
    play: createWavetable({
      harmonic: odd,
      darkness: 0.85,
      darkening: 0.3,
      attack: 0.006,
      decay: 0.4,
      sustain: 0.7,
      release: 0.08,
      vibrato: 0.1,
      detune: 0.14,
    }),
    lowest: 69,
    level: -21,
    pan: 0.15,
  },
  'synth pluck': {
    family: 'Synth',
    play: createWavetable({
      harmonic: saw,
      darkness: 0.6,
      darkening: 0.07,
      attack: 0.003,
      decay: 0.16,
      sustain: 0.08,
      release: 0.12,
      detune: 0.1,
    }),
    lowest: 60,
    level: -21,
    pan: -0.3,
  },
  'synth pad': {
    family: 'Synth',
    play: createWavetable({
      harmonic: saw,
      darkness: 0.62,
      darkening: 1.2,
      attack: 0.35,
      decay: 2,
      sustain: 0.8,
      release: 0.7,
      detune: 0.22,
    }),
    lowest: 57,
    level: -23,
    pan: -0.15,
  },
};
