import { expect, test } from 'vitest';
import {
  clientFrame,
  closeOpcode,
  closePayload,
  FrameReader,
  serverFrame,
  textOpcode,
} from './socket-frames.ts';

const texts = ['', 'a', 'b'.repeat(125), 'c'.repeat(126), 'd'.repeat(5000)];
const masked = Buffer.from([0x81, 0x83, 1, 2, 4, 8, 0x61 ^ 1, 0x62 ^ 2, 0x63 ^ 4]);
const frames = Buffer.concat([
  ...texts.map((text) => serverFrame(textOpcode, Buffer.from(text))),
  ...texts.map((text) => clientFrame(textOpcode, Buffer.from(text))),
  masked,
  serverFrame(closeOpcode, closePayload(1000)),
]);
const expected = [
  ...[...texts, ...texts, 'abc'].map((text) => [textOpcode, text]),
  [closeOpcode, '\x03\xe8'],
];

test.each([1, 2, 3, 7, 1000, frames.length])('reads frames in chunks of %i bytes', (size) => {
  const seen: [number, string][] = [];
  const reader = new FrameReader((opcode, payload) => seen.push([opcode, payload.toString('latin1')]));
  for (let at = 0; at < frames.length; at += size) reader.read(frames.subarray(at, at + size));
  expect(seen).toEqual(expected);
});

test.each([
  ['a fragment', [0x01, 0x00], 'unsupported frame'],
  ['a compressed frame', [0xc1, 0x00], 'unsupported frame'],
  ['a frame that is too long', [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0], 'longer than 64 KB'],
])('rejects %s', (_name, bytes, message) => {
  const reader = new FrameReader(() => {});
  expect(() => reader.read(Buffer.from(bytes))).toThrow(message);
});
