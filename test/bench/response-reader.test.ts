import { expect, test } from 'vitest';
import { chunkedResponse, fixedResponse } from './http-stub.ts';
import { ResponseReader } from './response-reader.ts';

const responses = Buffer.concat([
  fixedResponse('application/json', Buffer.from('{"a":1}')),
  chunkedResponse('text/event-stream', ['id:1\n', 'x'.repeat(5000), '\r\n\r\n']),
  Buffer.from('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n'),
]);
const expected = [
  [200, 7],
  [200, 5009],
  [404, 0],
];

test.each([1, 2, 3, 7, 100, responses.length])('reads responses in chunks of %i bytes', (size) => {
  const received: [number, number][] = [];
  const reader = new ResponseReader((status, bytes) => received.push([status, bytes]));
  for (let at = 0; at < responses.length; at += size) reader.read(responses.subarray(at, at + size));
  expect(received).toEqual(expected);
});

test('rejects bytes that are not a response', () => {
  const reader = new ResponseReader(() => {});
  expect(() => reader.read(Buffer.from('GET / HTTP/1.1\r\n\r\n'))).toThrow('not a response');
});
