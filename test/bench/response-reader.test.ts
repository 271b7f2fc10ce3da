import { expect, test } from 'vitest';
import { chunkedAnswer, wholeAnswer } from './http-stub.ts';
import { ResponseReader } from './response-reader.ts';

const answers = Buffer.concat([
  wholeAnswer('application/json', Buffer.from('{"a":1}')),
  chunkedAnswer('text/event-stream', ['id:1\n', 'x'.repeat(5000), '\r\n\r\n']),
  Buffer.from('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n'),
]);
const expected = [
  [200, 7],
  [200, 5009],
  [404, 0],
];

test.each([1, 2, 3, 7, 100, answers.length])('reads answers that come in pieces of %i bytes', (size) => {
  const seen: [number, number][] = [];
  const reader = new ResponseReader((status, bytes) => seen.push([status, bytes]));
  for (let at = 0; at < answers.length; at += size) reader.read(answers.subarray(at, at + size));
  expect(seen).toEqual(expected);
});

test('refuses what is not an answer', () => {
  const reader = new ResponseReader(() => {});
  expect(() => reader.read(Buffer.from('GET / HTTP/1.1\r\n\r\n'))).toThrow('not an answer');
});
