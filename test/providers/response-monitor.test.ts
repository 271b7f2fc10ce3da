import { describe, expect, test } from 'vitest';
import { Channel } from '../../server/channels/channel.ts';
import { ElidedJson } from '../../server/providers/native/elided-json.ts';
import { evaluateSpeech, JsonMonitor } from '../../server/providers/native/json-response.ts';
import { EventMonitor } from '../../server/providers/native/response-monitor.ts';
import { ProviderRedactor } from '../../server/providers/provider-redactor.ts';
import { channelTo } from '../support/upstream.ts';

const words = new ProviderRedactor(new Channel(channelTo('http://upstream.example'), Date.now));
const event = (data: object, type = 'result', end = '\n') =>
  ['id:1', `event:${type}`, ':HTTP_STATUS/200', `data:${JSON.stringify(data)}`, '', ''].join(end);
const audio = (length: number, characters?: number, end = '\n') =>
  event(
    {
      output: { finish_reason: 'null', audio: { data: 'A'.repeat(length) } },
      ...(characters === undefined ? {} : { usage: { characters } }),
    },
    'result',
    end,
  );
const stop = (characters: number, end = '\n') =>
  event({ output: { finish_reason: 'stop', audio: { data: '' } }, usage: { characters } }, 'result', end);

const pieces = (text: string, size: number) => {
  const bytes = Buffer.from(text);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
};

/** What comes out of a stream that comes in pieces, and what was seen of it. */
const watch = (text: string, size: number) => {
  const seen = new EventMonitor('characters', words);
  const out: Buffer[] = pieces(text, size).flatMap((piece) => {
    const bytes = Buffer.from(piece);
    const passed = seen.write(bytes).map((part) => Buffer.from(part));
    // As it happens when the next ones come.
    bytes.fill('"');
    return passed;
  });
  out.push(...seen.end());
  const told = Buffer.concat(out).toString('utf8');
  return { told, units: seen.usage?.units, audio: seen.delivered, failed: seen.failure !== undefined };
};
const broken = { status: 502, code: 'bad_response' };

describe.each([1, 7, 100, 1000, 65536])('events in pieces of %i bytes', (size) => {
  test.each(['\n', '\r\n', '\r'])(
    'pass byte for byte with the line end %j, and the last report counts',
    (end) => {
      const text = audio(3000, 3, end) + audio(2000, undefined, end) + audio(70_000, 12, end) + stop(20, end);
      expect(watch(text, size)).toEqual({ told: text, units: 20, audio: true, failed: false });
    },
  );

  test.each(['\n', '\r\n', '\r'])(
    'of a failure with the line end %j lose what is the provider’s own',
    (end) => {
      const failure = (message: string) =>
        event({ code: 'InternalError', message, more: 'x'.repeat(3000), request_id: 'r' }, 'error', end);
      const text = audio(100, undefined, end) + failure('at http://10.0.0.7/x: 早') + stop(3, end);
      expect(watch(text, size)).toEqual({
        told: text.replace('http://10.0.0.7/x', '***'),
        units: 3,
        audio: true,
        failed: true,
      });
    },
  );

  test('with a code in mid-stream are a failure', () => {
    const text = audio(100) + event({ code: 'InternalError', message: 'x' });
    expect(watch(text, size).failed).toBe(true);
  });

  test.each(['id:7\n', ''])('of the type of errors behind %j are one, with whatever data', (id) => {
    const data = { output: { finish_reason: 'null' }, usage: { characters: 2 } };
    const text = `${audio(100)}${id}event:error\ndata:${JSON.stringify(data)}\n\n${stop(3)}`;
    expect(watch(text, size)).toMatchObject({ told: text, failed: true });
  });

  test('without audio have delivered none', () => {
    const ended = event({ output: { finish_reason: 'stop' } });
    expect(watch(audio(0) + audio(0, 4) + ended, size)).toMatchObject({ units: 4, audio: false });
    expect(watch(audio(0) + audio(8) + ended, size)).toMatchObject({ audio: true });
  });

  test('that are long are read all the same', () => {
    const ended = event({ output: { finish_reason: 'stop' } });
    expect(watch(audio(70_000, 12) + ended, size)).toMatchObject({ units: 12, audio: true });
  });

  test('of a beta model end with status 2', () => {
    const piece = (status: number, data: string) =>
      event({ output: { data: { audio: data, status } }, usage: { characters: 7 } });
    const text = piece(1, 'ff00') + piece(2, 'ff00');
    expect(watch(text, size)).toEqual({ told: text, units: 7, audio: true, failed: false });
    expect(() => watch(piece(1, 'ff00'), size)).toThrow(expect.objectContaining(broken));
  });

  test('with comments, beats, a mark at the beginning and a blank after the colon are fine', () => {
    const spaced = stop(5).replaceAll(/^(id|event|data|):/gm, '$1: ');
    const text = `\ufeff:beat\n\n: beat "1\n${audio(10)}:beat\nretry: 5\n\n\n\n${spaced}`;
    expect(watch(text, size)).toEqual({ told: text, units: 5, audio: true, failed: false });
  });

  test('that are no failure keep what looks like the provider’s own', () => {
    const url = 'http://10.0.0.7/a.wav';
    const ended = event({ output: { finish_reason: 'stop', audio: { data: '', url } } });
    const text = `: at "${url}"\n\n${audio(10)}${ended}`;
    expect(watch(text, size)).toMatchObject({ told: text, failed: false });
  });

  test('in several data lines are one', () => {
    const text = 'data:{"output":\ndata:{"finish_reason":"stop"},\ndata:"usage":{"characters":4}}\n\n';
    expect(watch(text, size)).toMatchObject({ told: text, units: 4 });
  });

  test('without a blank line at the very end are whole when their JSON is', () => {
    const text = audio(10) + stop(5);
    expect(watch(text.slice(0, -1), size)).toMatchObject({ told: text.slice(0, -1), units: 5 });
    expect(watch(text.slice(0, -2), size)).toMatchObject({ told: text.slice(0, -2), units: 5 });
  });

  test('that imitate a report or an error are only text', () => {
    const text =
      event({
        output: { original_text: '"usage":{"characters":0}\nevent:error\n' },
        usage: { characters: 5 },
      }) + stop(5);
    expect(watch(text, size)).toMatchObject({ units: 5, failed: false });
  });

  test.each([
    ['without the last one', audio(10, 3)],
    ['cut in the middle of the last one', audio(10, 3) + stop(5).slice(0, -20)],
    ['cut in the middle of audio', audio(10, 3) + audio(70_000).slice(0, 66_000)],
    ['none at all', ''],
    ['only comments', ':beat\n\n:beat\n\n'],
  ])('are broken off: %s', (_what, text) => {
    expect(() => watch(text, size)).toThrow(expect.objectContaining(broken));
  });

  test.each(['null', '[]', '"x"', '1', '<html>', '{"output":'])('are none with the data %s', (data) => {
    expect(() => watch(`data:${data}\n\n${stop(5)}`, size)).toThrow(expect.objectContaining(broken));
  });
});

test('a page is no stream', () => {
  expect(() => watch('<!doctype html>\n<html>\n\n<p>x\n\n', 100)).toThrow(expect.objectContaining(broken));
});

test('an event goes on as soon as it is whole, its beginning when it is long, a comment at once', () => {
  const seen = new EventMonitor('characters', words);
  const told = (text: string) => Buffer.concat(seen.write(Buffer.from(text))).toString('utf8');
  const first = audio(10);
  expect(told(first.slice(0, 30))).toBe('');
  expect(told(`${first.slice(30)}id:2\n`)).toBe(first);
  expect(told('event:result\ndata:{"output":{"audio":{"data":"')).toBe('');
  expect(told('A'.repeat(70_000))).toContain('id:2\nevent:result\ndata:{"output":{"audio":{"data":"AAA');
  expect(told('AAA"}}}\n\n')).toBe('AAA"}}}\n\n');
  expect(told(':beat\n')).toBe(':beat\n');
});

test.each([10, 65_536])('a report stands until the next, in pieces of %i bytes', (size) => {
  const seen = new EventMonitor('characters', words);
  for (const text of [audio(10, 3), audio(10) + audio(10)])
    for (const piece of pieces(text, size)) seen.write(piece);
  expect(seen.usage?.units).toBe(3);
});

test('a failure whose beginning has gone on breaks the stream off', () => {
  const text = event({ message: 'x'.repeat(70_000), code: 'InternalError' }, 'error');
  expect(() => watch(text, 1000)).toThrow(expect.objectContaining({ status: 502 }));
});

test('a figure that no request can reach is no usage', () => {
  for (const characters of [1e15, -1, '7', null]) {
    const text = event({ output: { finish_reason: 'stop' }, usage: { characters } });
    expect(watch(text, 100).units).toBeUndefined();
  }
});

describe.each([1, 7, 1000, 65536])('JSON in pieces of %i bytes', (size) => {
  const json = { 'content-type': 'application/json' };
  const whole = (text: string, headers = json) => {
    const seen = new JsonMonitor(headers, (answer) => evaluateSpeech(answer, 'characters', words));
    const out = pieces(text, size).flatMap((piece) => seen.write(piece));
    seen.end();
    return { told: Buffer.concat(out).toString('utf8'), units: seen.usage?.units, audio: seen.delivered };
  };
  const answer = (hex: string, more: object = {}) =>
    JSON.stringify({
      output: { note: 'a "quoted" \\ 早 '.repeat(100), data: { audio: hex, status: 2 }, ...more },
      usage: { characters: 9 },
    });

  test('passes byte for byte, and is read at its end', () => {
    const text = answer('ff00'.repeat(20_000));
    expect(whole(text)).toEqual({ told: text, units: 9, audio: true });
  });

  test.each([
    ['cut', answer('ff00'.repeat(2000)).slice(0, -5), json],
    ['cut in its audio', answer('ff00'.repeat(2000)).slice(0, 4000), json],
    ['followed by something', `${answer('ff00')}x`, json],
    ['without audio', answer(''), json],
    ['with something else for audio', answer('zz'.repeat(2000)), json],
    ['with a failure of the provider', answer('ff00', { base_resp: { status_code: 1000 } }), json],
    ['an error', `{"code":"InternalError","message":"${'x'.repeat(9000)}"}`, json],
    ['a list', `["${'x'.repeat(9000)}"]`, json],
    ['a page', `<html>${'x'.repeat(9000)}`, json],
    ['of another type', answer('ff00'), { 'content-type': 'text/html' }],
  ])('is none when it is %s', (_what, text, headers) => {
    expect(() => whole(text, headers)).toThrow(expect.objectContaining({ status: 502 }));
  });
});

test.each([
  ['a long string', `{"a":"${'x'.repeat(5000)}","b":1}`],
  ['escapes at every place', `{"a":"${String.raw`\\\"\u00e9x`.repeat(900)}","b":1}`],
  [
    'an escape where the cut is',
    `{"a":"${'x'.repeat(63)}${String.raw`\"\\`}${'y'.repeat(900)}${String.raw`\\`}","c":"${'x'.repeat(64)}${String.raw`\\\"`}","b":1}`,
  ],
  ['many strings', JSON.stringify({ a: Array.from({ length: 3000 }, (_, index) => `${index}`), b: 1 })],
])('%s is cut without a change of what it means', (what, text) => {
  for (const size of [1, 2, 3, 255, 256, 257, 1000]) {
    const elided = new ElidedJson();
    for (const piece of pieces(text, size)) elided.push(piece);
    expect(JSON.parse(elided.text)).toMatchObject({ b: 1 });
    expect(elided.text.length).toBeLessThan(what === 'many strings' ? text.length + 1 : 300);
  }
});

test.each(['u00e9', '\\u00e9', 'n', '\\'])('a string is never cut inside of the escape %s', (escape) => {
  for (let length = 56; length <= 64; length += 1) {
    const elided = new ElidedJson();
    const start = 'x'.repeat(length);
    elided.push(Buffer.from(`{"a":"${start}\\${escape}${'y'.repeat(900)}","b":1}`));
    expect(JSON.parse(elided.text)).toMatchObject({ a: expect.stringMatching(`^${start}`), b: 1 });
  }
});

test('an answer that tells more than any does is too much', () => {
  const elided = new ElidedJson();
  const push = () => {
    for (let round = 0; round < 100; round += 1) elided.push(Buffer.from('[1,2,3],'.repeat(4000)));
  };
  expect(push).toThrow(expect.objectContaining(broken));
});
