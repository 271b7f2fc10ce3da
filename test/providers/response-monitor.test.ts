import { describe, expect, test } from 'vitest';
import { Channel } from '../../server/channels/channel.ts';
import { ElidedJson } from '../../server/providers/native/elided-json.ts';
import { evaluateSpeech, JsonMonitor } from '../../server/providers/native/json-response.ts';
import { EventMonitor } from '../../server/providers/native/response-monitor.ts';
import { ProviderRedactor } from '../../server/providers/provider-redactor.ts';
import { channelTo } from '../support/upstream.ts';

const redactor = new ProviderRedactor(new Channel(channelTo('http://upstream.example'), Date.now));
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

const chunksOf = (text: string, size: number) => {
  const bytes = Buffer.from(text);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
};

/** Output for a stream in chunks of `size` bytes, and the monitor's findings. */
const watch = (text: string, size: number, charged?: number) => {
  const seen = new EventMonitor('characters', redactor);
  const out: Buffer[] = chunksOf(text, size).flatMap((chunk) => {
    const bytes = Buffer.from(chunk);
    const passed = seen.write(bytes).map((part) => Buffer.from(part));
    // Later chunks may reuse the memory.
    bytes.fill('"');
    return passed;
  });
  out.push(...seen.end(), ...seen.release(charged));
  const output = Buffer.concat(out).toString('utf8');
  return { output, units: seen.usage?.units, audio: seen.delivered, failed: seen.failure !== undefined };
};
const broken = { status: 502, code: 'bad_response' };

describe.each([1, 7, 100, 1000, 65536])('events in chunks of %i bytes', (size) => {
  test.each(['\n', '\r\n', '\r'])(
    'are forwarded unchanged with the line end %j, and the last report counts',
    (end) => {
      const text = audio(3000, 3, end) + audio(2000, undefined, end) + audio(70_000, 12, end) + stop(20, end);
      expect(watch(text, size)).toEqual({ output: text, units: 20, audio: true, failed: false });
    },
  );

  test.each(['\n', '\r\n', '\r'])('of a failure with the line end %j are redacted', (end) => {
    const failure = (message: string) =>
      event({ code: 'InternalError', message, more: 'x'.repeat(3000), request_id: 'r' }, 'error', end);
    const text =
      audio(100, undefined, end) +
      failure('at http://10.0.0.7/x: 早, see https://help.example/codes') +
      stop(3, end);
    expect(watch(text, size)).toEqual({
      output: text.replace('http://10.0.0.7/x', '***'),
      units: 3,
      audio: true,
      failed: true,
    });
  });

  test('with a code are a failure, also after others', () => {
    const text = audio(100) + event({ code: 'InternalError', message: 'x' });
    expect(watch(text, size).failed).toBe(true);
  });

  test.each(['id:7\n', ''])('of the error type after %j are a failure with any data', (id) => {
    const data = { output: { finish_reason: 'null' }, usage: { characters: 2 } };
    const text = `${audio(100)}${id}event:error\ndata:${JSON.stringify(data)}\n\n${stop(3)}`;
    expect(watch(text, size)).toMatchObject({ output: text, failed: true });
  });

  test('without audio deliver nothing', () => {
    const ended = event({ output: { finish_reason: 'stop' } });
    expect(watch(audio(0) + audio(0, 4) + ended, size)).toMatchObject({ units: 4, audio: false });
    expect(watch(audio(0) + audio(8) + ended, size)).toMatchObject({ audio: true });
  });

  test('that are long are also read', () => {
    const ended = event({ output: { finish_reason: 'stop' } });
    expect(watch(audio(70_000, 12) + ended, size)).toMatchObject({ units: 12, audio: true });
  });

  test('of a beta model end with status 2', () => {
    const chunk = (status: number, data: string) =>
      event({ output: { data: { audio: data, status } }, usage: { characters: 7 } });
    const text = chunk(1, 'ff00') + chunk(2, 'ff00');
    expect(watch(text, size)).toEqual({ output: text, units: 7, audio: true, failed: false });
    expect(() => watch(chunk(1, 'ff00'), size)).toThrow(expect.objectContaining(broken));
  });

  test('may have comments, a byte order mark and a space after the colon', () => {
    const spaced = stop(5).replaceAll(/^(id|event|data|):/gm, '$1: ');
    const text = `\ufeff:beat\n\n: beat "1\n${audio(10)}:beat\nretry: 5\n\n\n\n${spaced}`;
    expect(watch(text, size)).toEqual({ output: text, units: 5, audio: true, failed: false });
  });

  test('without a failure are not redacted', () => {
    const url = 'http://10.0.0.7/a.wav';
    const ended = event({ output: { finish_reason: 'stop', audio: { data: '', url } } });
    const text = `: at "${url}"\n\n${audio(10)}${ended}`;
    expect(watch(text, size)).toMatchObject({ output: text, failed: false });
  });

  test('may have several data lines', () => {
    const text = 'data:{"output":\ndata:{"finish_reason":"stop"},\ndata:"usage":{"characters":4}}\n\n';
    expect(watch(text, size)).toMatchObject({ output: text, units: 4 });
  });

  test('without a final blank line are complete if their JSON is', () => {
    const text = audio(10) + stop(5);
    expect(watch(text.slice(0, -1), size)).toMatchObject({ output: text.slice(0, -1), units: 5 });
    expect(watch(text.slice(0, -2), size)).toMatchObject({ output: text.slice(0, -2), units: 5 });
  });

  test('may contain text that looks like a report or an error', () => {
    const text =
      event({
        output: { original_text: '"usage":{"characters":0}\nevent:error\n' },
        usage: { characters: 5 },
      }) + stop(5);
    expect(watch(text, size)).toMatchObject({ units: 5, failed: false });
  });

  describe('state the charge', () => {
    const last = (data: string, end = '\n') =>
      ['id:9', 'event:result', ':HTTP_STATUS/200', `data:${data}`, '', ''].join(end);
    const stopped = '"output":{"finish_reason":"stop","audio":{"data":""}}';

    test.each(['\n', '\r\n', '\r'])('in the last event with the line end %j', (end) => {
      const before = audio(3000, 3, end) + audio(70_000, 12, end);
      const text = before + last(`{${stopped},"usage":{"characters":20}}`, end);
      const charged = before + last(`{${stopped},"usage":{"characters":20,"cost":60}}`, end);
      expect(watch(text, size, 60)).toEqual({ output: charged, units: 20, audio: true, failed: false });
    });

    test.each([
      ['{"usage":{"characters":4}, OUT}', '{"usage":{"characters":4,"cost":0}, OUT}'],
      ['{OUT,"usage" : {} ,"request_id":"早"}', '{OUT,"usage" : {"cost":0} ,"request_id":"早"}'],
      ['{OUT,"usage":null}', '{OUT,"usage":{"cost":0}}'],
      ['{OUT,"usage":7 }', '{OUT,"usage":{"cost":0} }'],
      ['{OUT,"request_id":"r"}', '{OUT,"request_id":"r","usage":{"cost":0}}'],
      [
        '{OUT,"usage":{"cost":9,"note":"早\\"}","a":[{"b":{}}]},"x":{"usage":{}}}',
        '{OUT,"usage":{"cost":0,"note":"早\\"}","a":[{"b":{}}]},"x":{"usage":{}}}',
      ],
      ['{"note":"\\"usage\\":{}",OUT}', '{"note":"\\"usage\\":{}",OUT,"usage":{"cost":0}}'],
    ])('in %s', (given, expected) => {
      const text = audio(10) + last(given.replace('OUT', stopped));
      expect(watch(text, size, 0).output).toBe(audio(10) + last(expected.replace('OUT', stopped)));
    });

    test('in several data lines', () => {
      const text =
        'data:{"output":\ndata:{"finish_reason":"stop"},\ndata: "usage":{\ndata:"characters":4}}\n\n';
      const charged =
        'data:{"output":\ndata:{"finish_reason":"stop"},\ndata: "usage":{"characters":4,"cost":8}}\n\n';
      expect(watch(text, size, 8)).toMatchObject({ output: charged, units: 4 });
    });

    test('in an event without a final blank line', () => {
      const text = audio(10) + last(`{${stopped},"usage":{"characters":5}}`).slice(0, -2);
      const charged = audio(10) + last(`{${stopped},"usage":{"characters":5,"cost":5}}`).slice(0, -2);
      expect(watch(text, size, 5).output).toBe(charged);
    });

    test.each([70_000, 200_000])('after audio of %i characters in the last event', (length) => {
      const long = `"output":{"data":{"audio":"${'f0'.repeat(length / 2)}","status":2},"trace_id":"t"}`;
      const text = audio(10) + last(`{${long},"usage":{"characters":7}}`);
      const charged = audio(10) + last(`{${long},"usage":{"characters":7,"cost":14}}`);
      expect(watch(text, size, 14)).toEqual({ output: charged, units: 7, audio: true, failed: false });
      const silent = audio(10) + last(`{${long}}`);
      expect(watch(silent, size, 14).output).toBe(audio(10) + last(`{${long},"usage":{"cost":14}}`));
    });

    test('not before audio that was already forwarded', () => {
      const long = `"output":{"data":{"audio":"${'f0'.repeat(100_000)}","status":2}}`;
      const text = last(`{"usage":{"characters":7},${long}}`);
      expect(watch(text, size, 14)).toEqual({ output: text, units: 7, audio: true, failed: false });
    });

    test('only in the last of several last events', () => {
      const first = stop(3);
      const comment = ':beat\n';
      const text = first + comment + audio(8, 4) + last(`{${stopped},"usage":{"characters":6}}`);
      const charged = first + audio(8, 4) + last(`{${stopped},"usage":{"characters":6,"cost":6}}`);
      expect(watch(text, size, 6)).toMatchObject({
        output: charged.replace(first, comment + first),
        units: 6,
      });
    });

    test('only in the last of two, without a final blank line', () => {
      const text = stop(3) + stop(4).slice(0, -1);
      expect(watch(text, size, 6).output).toBe(text.replace(':4}', ':4,"cost":6}'));
    });

    test('not if other events follow', () => {
      for (const more of [audio(8, 4), audio(70_000, 4), event({ output: {} })])
        expect(watch(stop(3) + more, size, 6).output).toBe(stop(3) + more);
    });
  });

  test.each([
    ['without the last event', audio(10, 3)],
    ['cut inside of the last event', audio(10, 3) + stop(5).slice(0, -20)],
    ['cut inside of audio', audio(10, 3) + audio(70_000).slice(0, 66_000)],
    ['an empty stream', ''],
    ['only comments', ':beat\n\n:beat\n\n'],
  ])('are incomplete: %s', (_title, text) => {
    expect(() => watch(text, size)).toThrow(expect.objectContaining(broken));
  });

  test.each(['null', '[]', '"x"', '1', '<html>', '{"output":'])('are invalid with the data %s', (data) => {
    expect(() => watch(`data:${data}\n\n${stop(5)}`, size)).toThrow(expect.objectContaining(broken));
  });
});

test('a web page is not an event stream', () => {
  expect(() => watch('<!doctype html>\n<html>\n\n<p>x\n\n', 100)).toThrow(expect.objectContaining(broken));
});

test('forwards a complete event, the start of a long one, and comments at once', () => {
  const seen = new EventMonitor('characters', redactor);
  const output = (text: string) => Buffer.concat(seen.write(Buffer.from(text))).toString('utf8');
  const first = audio(10);
  expect(output(first.slice(0, 30))).toBe('');
  expect(output(`${first.slice(30)}id:2\n`)).toBe(first);
  expect(output('event:result\ndata:{"output":{"audio":{"data":"')).toBe('');
  expect(output('A'.repeat(70_000))).toContain('id:2\nevent:result\ndata:{"output":{"audio":{"data":"AAA');
  expect(output('AAA"}}}\n\n')).toBe('AAA"}}}\n\n');
  expect(output(':beat\n')).toBe(':beat\n');
});

test('holds the last event until its release, and forwards comments in the meantime', () => {
  const seen = new EventMonitor('characters', redactor);
  const output = (text: string) => Buffer.concat(seen.write(Buffer.from(text))).toString('utf8');
  const last = event({
    output: { finish_reason: 'stop', audio: { data: 'AAAA' } },
    usage: { characters: 2 },
  });
  expect(output(audio(0) + last)).toBe(audio(0));
  expect(output(':beat\n')).toBe(':beat\n');
  expect([seen.usage?.units, seen.delivered]).toEqual([2, false]);
  expect(Buffer.concat(seen.release()).toString()).toBe(last);
  expect([seen.delivered, seen.release(3)]).toEqual([true, []]);
});

test.each([10, 65_536])('a report is valid until the next one, in chunks of %i bytes', (size) => {
  const seen = new EventMonitor('characters', redactor);
  for (const text of [audio(10, 3), audio(10) + audio(10)])
    for (const chunk of chunksOf(text, size)) seen.write(chunk);
  expect(seen.usage?.units).toBe(3);
});

test('a failure whose start was already forwarded aborts the stream', () => {
  const text = event({ message: 'x'.repeat(70_000), code: 'InternalError' }, 'error');
  expect(() => watch(text, 1000)).toThrow(expect.objectContaining({ status: 502 }));
});

test('an implausible count is not usage', () => {
  for (const characters of [1e15, -1, '7', null]) {
    const text = event({ output: { finish_reason: 'stop' }, usage: { characters } });
    expect(watch(text, 100).units).toBeUndefined();
  }
});

describe.each([1, 7, 1000, 65536])('JSON in chunks of %i bytes', (size) => {
  const json = { 'content-type': 'application/json' };
  const whole = (text: string, headers = json) => {
    const seen = new JsonMonitor(headers, (answer) => evaluateSpeech(answer, 'characters', redactor));
    const out = chunksOf(text, size).flatMap((chunk) => seen.write(chunk));
    seen.end();
    return { output: Buffer.concat(out).toString('utf8'), units: seen.usage?.units, audio: seen.delivered };
  };
  const answer = (hex: string, more: object = {}) =>
    JSON.stringify({
      output: { note: 'a "quoted" \\ 早 '.repeat(100), data: { audio: hex, status: 2 }, ...more },
      usage: { characters: 9 },
    });

  test('is forwarded unchanged and read at the end', () => {
    const text = answer('ff00'.repeat(20_000));
    expect(whole(text)).toEqual({ output: text, units: 9, audio: true });
  });

  test.each([
    ['cut', answer('ff00'.repeat(2000)).slice(0, -5), json],
    ['cut inside of its audio', answer('ff00'.repeat(2000)).slice(0, 4000), json],
    ['followed by other bytes', `${answer('ff00')}x`, json],
    ['without audio', answer(''), json],
    ['with invalid audio', answer('zz'.repeat(2000)), json],
    ['with a failure of the provider', answer('ff00', { base_resp: { status_code: 1000 } }), json],
    ['an error', `{"code":"InternalError","message":"${'x'.repeat(9000)}"}`, json],
    ['a list', `["${'x'.repeat(9000)}"]`, json],
    ['a web page', `<html>${'x'.repeat(9000)}`, json],
    ['of another type', answer('ff00'), { 'content-type': 'text/html' }],
  ])('is invalid if it is %s', (_title, text, headers) => {
    expect(() => whole(text, headers)).toThrow(expect.objectContaining({ status: 502 }));
  });
});

test.each([
  ['a long string', `{"a":"${'x'.repeat(5000)}","b":1}`],
  ['escapes at every place', `{"a":"${String.raw`\\\"\u00e9x`.repeat(900)}","b":1}`],
  [
    'an escape at the limit',
    `{"a":"${'x'.repeat(63)}${String.raw`\"\\`}${'y'.repeat(900)}${String.raw`\\`}","c":"${'x'.repeat(64)}${String.raw`\\\"`}","b":1}`,
  ],
  ['many strings', JSON.stringify({ a: Array.from({ length: 3000 }, (_, index) => `${index}`), b: 1 })],
])('%s is cut off without other changes', (title, text) => {
  for (const size of [1, 2, 3, 255, 256, 257, 1000]) {
    const elided = new ElidedJson();
    for (const chunk of chunksOf(text, size)) elided.push(chunk);
    expect(JSON.parse(elided.text)).toMatchObject({ b: 1 });
    expect(elided.text.length).toBeLessThan(title === 'many strings' ? text.length + 1 : 300);
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

test('a response that is too long without its strings is rejected', () => {
  const elided = new ElidedJson();
  const push = () => {
    for (let round = 0; round < 100; round += 1) elided.push(Buffer.from('[1,2,3],'.repeat(4000)));
  };
  expect(push).toThrow(expect.objectContaining(broken));
});
