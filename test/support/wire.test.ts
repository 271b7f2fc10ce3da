import { expect, test } from 'vitest';
import { documented } from '../conformance/contract/documented.ts';
import type { HttpResponse } from '../conformance/wire/http-response.ts';
import { violations } from '../conformance/wire/wire.ts';

const speech = documented('createSpeech');
const id = 'req_0123456789abcdef0123456789abcdef';

const responseOf = (
  status: number,
  type: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): HttpResponse => ({
  status,
  headers: new Headers({ 'x-request-id': id, 'content-type': type, ...headers }),
  body: Buffer.from(body),
});
const errorBody = JSON.stringify({ error: { code: 'c', message: 'm', request_id: id } });
const found = (one: HttpResponse) => violations(speech, one);

const event = (number: number, data: object) =>
  `id:${number}\nevent:result\n:HTTP_STATUS/200\ndata:${JSON.stringify(data)}\n\n`;
const audio = { data: 'AAAA', url: 'https://files.example/a.wav', id: 'audio_1', expires_at: 1 };
const last = { request_id: 'r', output: { finish_reason: 'stop', audio }, usage: { characters: 2 } };

/** Two MP3 frames of 128 kbit/s at 44.1 kHz. */
const mp3 = Buffer.alloc(2 * 417);
for (const at of [0, 417]) mp3.writeUInt32BE(0xfffb9000, at);

test.each([
  ['an error', responseOf(400, 'application/json; charset=utf-8', errorBody)],
  ['an MP3', responseOf(200, 'audio/mpeg', mp3)],
  ['native events', responseOf(200, 'text/event-stream', event(1, last))],
  ['throttling', responseOf(429, 'application/json', errorBody, { 'retry-after': '1' })],
])('%s as documented has no violations', (_, one) => {
  expect(found(one)).toEqual([]);
});

const broken: [string, HttpResponse, RegExp][] = [
  ['an undocumented status', responseOf(418, 'application/json', errorBody), /status 418/],
  ['another content type', responseOf(400, 'text/html', errorBody), /content type text\/html/],
  ['a body that is not JSON', responseOf(400, 'application/json', '{'), /not JSON/],
  ['a body that lacks a field', responseOf(400, 'application/json', '{"error":{"code":"c"}}'), /message/],
  [
    'a malformed request id',
    responseOf(400, 'application/json', errorBody, { 'x-request-id': '7' }),
    /x-request-id/,
  ],
  ['a missing header', responseOf(429, 'application/json', errorBody), /retry-after is missing/],
  [
    'a header of the wrong type',
    responseOf(429, 'application/json', errorBody, { 'retry-after': 'soon' }),
    /retry-after/,
  ],
  ['audio of another type', responseOf(200, 'audio/mpeg', 'RIFF'), /not audio\/mpeg/],
  [
    'an event with a space after the colon',
    responseOf(200, 'text/event-stream', 'id: 1\n\n'),
    /not a native event/,
  ],
  ['events that skip a number', responseOf(200, 'text/event-stream', event(2, last)), /has id 2/],
  [
    'an event without its empty line',
    responseOf(200, 'text/event-stream', event(1, last).slice(0, -1)),
    /empty line/,
  ],
  ['an undocumented event', responseOf(200, 'text/event-stream', event(1, { usage: 1 })), /event 1/],
];
test.each(broken)('%s is reported', (_, one, problem) => {
  expect(found(one).join('\n')).toMatch(problem);
});

test('an undocumented body is reported', () => {
  const deleted = responseOf(204, 'text/plain', 'done');
  expect(violations(documented('deleteOfficialVideo'), deleted)).toEqual(['a body is not documented: done']);
});
