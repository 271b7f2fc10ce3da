import { expect, test } from 'vitest';
import { documented } from '../conformance/contract/documented.ts';
import type { HttpResponse } from '../conformance/wire/http-response.ts';
import { violations } from '../conformance/wire/wire.ts';

const speech = documented('createSpeech');
const id = 'req_0123456789abcdef0123456789abcdef';

const answer = (
  status: number,
  type: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): HttpResponse => ({
  status,
  headers: new Headers({ 'x-request-id': id, 'content-type': type, ...headers }),
  body: Buffer.from(body),
});
const refusal = JSON.stringify({ error: { code: 'c', message: 'm', request_id: id } });
const found = (one: HttpResponse) => violations(speech, one);

const event = (number: number, data: object) =>
  `id:${number}\nevent:result\n:HTTP_STATUS/200\ndata:${JSON.stringify(data)}\n\n`;
const audio = { data: '', url: 'https://files.example/a.wav', id: 'audio_1', expires_at: 1 };
const last = { request_id: 'r', output: { finish_reason: 'stop', audio }, usage: { characters: 2 } };

test.each([
  ['a refusal', answer(400, 'application/json; charset=utf-8', refusal)],
  ['an MP3', answer(200, 'audio/mpeg', Buffer.from('fffb9000', 'hex'))],
  ['native events', answer(200, 'text/event-stream', event(1, last))],
  ['throttling', answer(429, 'application/json', refusal, { 'retry-after': '1' })],
])('%s as documented breaks nothing', (_, one) => {
  expect(found(one)).toEqual([]);
});

const broken: [string, HttpResponse, RegExp][] = [
  ['an undocumented status', answer(418, 'application/json', refusal), /status 418/],
  ['another content type', answer(400, 'text/html', refusal), /content type text\/html/],
  ['a body that is no JSON', answer(400, 'application/json', '{'), /not JSON/],
  ['a body that lacks a field', answer(400, 'application/json', '{"error":{"code":"c"}}'), /message/],
  [
    'a malformed request id',
    answer(400, 'application/json', refusal, { 'x-request-id': '7' }),
    /x-request-id/,
  ],
  ['a missing header', answer(429, 'application/json', refusal), /retry-after is missing/],
  [
    'a header of the wrong type',
    answer(429, 'application/json', refusal, { 'retry-after': 'soon' }),
    /retry-after/,
  ],
  ['audio that is something else', answer(200, 'audio/mpeg', 'RIFF'), /not audio\/mpeg/],
  [
    'an event with a blank after the colon',
    answer(200, 'text/event-stream', 'id: 1\n\n'),
    /not a native event/,
  ],
  ['events that skip a number', answer(200, 'text/event-stream', event(2, last)), /has id 2/],
  [
    'an event without its empty line',
    answer(200, 'text/event-stream', event(1, last).slice(0, -1)),
    /empty line/,
  ],
  ['an event that no message describes', answer(200, 'text/event-stream', event(1, { usage: 1 })), /event 1/],
];
test.each(broken)('%s is found', (_, one, problem) => {
  expect(found(one).join('\n')).toMatch(problem);
});

test('a body where none is documented is found', () => {
  const deleted = answer(204, 'text/plain', 'done');
  expect(violations(documented('deleteOfficialVideo'), deleted)).toEqual(['a body is not documented: done']);
});
