import { expect, test } from 'vitest';
import { AudioFrames, checkAudio, delayOf, eventBytes, isAudio } from './audio-frames.ts';
import { formats, framesPerText, shortFrames } from './plan.ts';
import { FrameReader } from './socket-frames.ts';

function events(count: number, first: number, response: number, format = shortFrames): Buffer[] {
  const seen: Buffer[] = [];
  const reader = new FrameReader((_opcode, payload) => seen.push(Buffer.from(payload)));
  reader.read(new AudioFrames(format, 4).create(count, first, response));
  return seen;
}

test('creates events with number, time and response', () => {
  const created = events(3, 99, 7);
  const length = eventBytes(shortFrames);
  expect(created.map((event) => event.length)).toEqual([length, length, length]);
  expect(created.map((event) => JSON.parse(event.toString()))).toMatchObject(
    ['00000099', '00000100', '00000101'].map((number) => ({
      event_id: expect.stringMatching(new RegExp(`^audio_${number}_\\d{18}$`)),
      type: 'response.audio.delta',
      response_id: 'resp_00000007',
      item_id: 'item_00000007',
    })),
  );
});

test('a frame of a conversation has 100 ms of PCM at 24 kHz, and a text 0.8 s', () => {
  const { conversation } = formats;
  const [frame = Buffer.alloc(0)] = events(1, 5, 1, conversation);
  const { delta } = JSON.parse(frame.toString()) as { delta: string };
  expect(Buffer.from(delta, 'base64')).toHaveLength(2 * 2400);
  expect(framesPerText(conversation)).toBe(8);
  expect(() => checkAudio(frame, 5, conversation)).not.toThrow();
  expect(() => checkAudio(frame, 5, shortFrames)).toThrow('was changed');
});

test('an unchanged event passes only in order', () => {
  const [event = Buffer.alloc(0)] = events(1, 5, 1);
  expect(isAudio(event)).toBe(true);
  expect(() => checkAudio(event, 5, shortFrames)).not.toThrow();
  expect(() => checkAudio(event, 6, shortFrames)).toThrow('received audio frame 5 instead of 6');
});

test.each([200, eventBytes(shortFrames) - 1])('an event changed at byte %i is rejected', (at) => {
  const [event = Buffer.alloc(0)] = events(1, 5, 1);
  event[at] = (event[at] ?? 0) ^ 1;
  expect(() => checkAudio(event, 5, shortFrames)).toThrow('was changed');
});

test('an event with another length is rejected', () => {
  const [event = Buffer.alloc(0)] = events(1, 5, 1);
  expect(() => checkAudio(event.subarray(0, -1), 5, shortFrames)).toThrow('was changed');
  expect(() => checkAudio(Buffer.concat([event, event]), 5, shortFrames)).toThrow('was changed');
});

test('the delay is the time since the creation of an event', () => {
  const before = process.hrtime.bigint();
  const [event = Buffer.alloc(0)] = events(1, 0, 1);
  const delay = delayOf(event);
  const elapsed = Number(process.hrtime.bigint() - before) / 1e6;
  expect(delay).toBeGreaterThanOrEqual(0);
  expect(delay).toBeLessThanOrEqual(elapsed);
});
