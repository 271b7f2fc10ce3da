import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { EventStream } from '../../server/sandbox/http/event-stream.ts';
import type { Exchange } from '../../server/sandbox/http/exchange.ts';

function slowReader(signal: AbortSignal) {
  const response = Object.assign(new PassThrough({ highWaterMark: 16 }), { writeHead: () => {} });
  const exchange = { response: response as unknown as ServerResponse, signal, requestId: 'r' } as Exchange;
  return { response, events: new EventStream(exchange) };
}

test('waits while the socket buffer is full', async () => {
  const { response, events } = slowReader(new AbortController().signal);
  let sent = false;
  const sending = events.send({ long: 'x'.repeat(100) }).then(() => {
    sent = true;
  });
  await setImmediate();
  expect(sent).toBe(false);
  response.resume();
  await sending;
  expect(sent).toBe(true);
});

test('stops waiting when the client disconnects', async () => {
  const leave = new AbortController();
  const { events } = slowReader(leave.signal);
  const sending = events.send({ long: 'x'.repeat(100) });
  leave.abort();
  await expect(sending).rejects.toThrow('aborted');
  await expect(events.send({})).rejects.toThrow('aborted');
});
