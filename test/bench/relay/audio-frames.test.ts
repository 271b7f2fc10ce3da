import { expect, test } from 'vitest';
import { AudioFrames, checkAudio, delayOf, eventBytes, isAudio } from './audio-frames.ts';
import { FrameReader } from './socket-frames.ts';

function events(count: number, first: number, response: number): Buffer[] {
  const seen: Buffer[] = [];
  const reader = new FrameReader((_opcode, payload) => seen.push(Buffer.from(payload)));
  reader.read(new AudioFrames(4).create(count, first, response));
  return seen;
}

test('creates events with number, time and response', () => {
  const created = events(3, 99, 7);
  expect(created.map(({ length }) => length)).toEqual([eventBytes, eventBytes, eventBytes]);
  expect(created.map((event) => JSON.parse(event.toString()))).toMatchObject(
    ['00000099', '00000100', '00000101'].map((number) => ({
      event_id: expect.stringMatching(new RegExp(`^audio_${number}_\\d{18}$`)),
      type: 'response.audio.delta',
      response_id: 'resp_00000007',
      item_id: 'item_00000007',
    })),
  );
});

test('an unchanged event passes only in order', () => {
  const [event = Buffer.alloc(0)] = events(1, 5, 1);
  expect(isAudio(event)).toBe(true);
  expect(() => checkAudio(event, 5)).not.toThrow();
  expect(() => checkAudio(event, 6)).toThrow('received audio frame 5 instead of 6');
});

test.each([200, eventBytes - 1])('an event changed at byte %i is rejected', (at) => {
  const [event = Buffer.alloc(0)] = events(1, 5, 1);
  event[at] = (event[at] ?? 0) ^ 1;
  expect(() => checkAudio(event, 5)).toThrow('was changed');
});

test('an event with another length is rejected', () => {
  const [event = Buffer.alloc(0)] = events(1, 5, 1);
  expect(() => checkAudio(event.subarray(0, -1), 5)).toThrow('was changed');
  expect(() => checkAudio(Buffer.concat([event, event]), 5)).toThrow('was changed');
});

test('the delay is the time since the creation of an event', () => {
  const before = process.hrtime.bigint();
  const [event = Buffer.alloc(0)] = events(1, 0, 1);
  const delay = delayOf(event);
  const elapsed = Number(process.hrtime.bigint() - before) / 1e6;
  expect(delay).toBeGreaterThanOrEqual(0);
  expect(delay).toBeLessThanOrEqual(elapsed);
});
