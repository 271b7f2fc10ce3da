import { readFileSync } from 'node:fs';

// Loaded before a gateway: shifts its calendar by the milliseconds in a file, which each SIGUSR2 reads again. The monotonic
// clock is unchanged.

const { now: calendar } = Date;
const file = process.env.CLOCK_SHIFT_FILE ?? '';
let shiftMs = readShift();

function readShift(): number {
  return Number(readFileSync(file, 'utf8'));
}

globalThis.Date = class extends Date {
  constructor(...given: [] | [number | string | Date]) {
    super(given.length === 0 ? calendar() + shiftMs : given[0]);
  }

  static override now(): number {
    return calendar() + shiftMs;
  }
} as DateConstructor;

process.on('SIGUSR2', () => {
  shiftMs = readShift();
  console.log(`calendar shifted by ${shiftMs} ms`);
});
