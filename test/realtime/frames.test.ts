import { describe, expect, test } from 'vitest';
import {
  isAudioDelta,
  objectField,
  parseObject,
  readServerEvent,
  UsedIds,
} from '../../server/sockets/frames.ts';

describe('an audio frame is detected by its first bytes and its last byte', () => {
  const audio = 'A'.repeat(1024);

  test.each([
    `{"event_id":"event_1","type":"response.audio.delta","delta":"${audio}"}`,
    `{"type": "response.audio.delta", "delta": "${audio}"}`,
    `{ "type" : "response.audio.delta", "delta":"${audio}"}`,
  ])('%s', (frame) => {
    expect(isAudioDelta(Buffer.from(frame))).toBe(true);
  });

  test.each([
    ['a short frame, which is parsed', '{"event_id":"event_1","type":"response.audio.delta","delta":"AAAA"}'],
    ['another event', `{"event_id":"event_1","type":"response.done","note":"response.audio.delta ${audio}"}`],
    ['text that imitates it', JSON.stringify({ type: 'x', text: `"type":"response.audio.delta"${audio}` })],
    ['a frame whose type is far from its start', `{"pad":"${audio}","type":"response.audio.delta"}`],
    ['a truncated frame', `{"type":"response.audio.delta","delta":"${audio}`],
    ['an empty frame', ''],
  ])('not %s', (_name, frame) => {
    expect(isAudioDelta(Buffer.from(frame))).toBe(false);
  });
});

describe('a server event', () => {
  const read = (event: object) => readServerEvent(Buffer.from(JSON.stringify(event)), false);

  test.each([
    { type: 'x', event_id: 'a' },
    { type: 'error' },
    { type: 'response.audio.delta', event_id: 'a', delta: '' },
  ])('is %j', (event) => expect(read(event)).toEqual(event));

  test.each([{}, { type: 5, event_id: 'a' }, { type: 'x' }, { type: 'response.audio.delta', event_id: 'a' }])(
    'is not %j',
    (event) => expect(read(event)).toBeUndefined(),
  );

  test('is not a binary frame and not another JSON value', () => {
    expect(readServerEvent(Buffer.from('{"type":"x","event_id":"a"}'), true)).toBeUndefined();
    expect(readServerEvent(Buffer.from('[]'), false)).toBeUndefined();
  });
});

describe('frames', () => {
  test.each(['', '{', '[]', '1', 'null', '"x"'])('%j is not an object', (text) => {
    expect(parseObject(text)).toBeUndefined();
  });

  test('a property that is not an object reads as empty', () => {
    expect(objectField({ a: 1, b: null, c: { d: 2 } }, 'a')).toEqual({});
    expect(objectField({ b: null }, 'b')).toEqual({});
    expect(objectField({ c: { d: 2 } }, 'c')).toEqual({ d: 2 });
  });
});

describe('used ids', () => {
  test('are refused when they are repeated', () => {
    const used = new UsedIds();
    expect([used.add('a'), used.add('b'), used.add('a')]).toEqual([true, true, false]);
  });

  test('are forgotten, the oldest first, before they fill the memory', () => {
    const used = new UsedIds();
    const id = (index: number) => String(index).padStart(512, '0');
    // Each id uses its 512 characters and an overhead.
    for (let index = 0; index < 1821; index += 1) expect(used.add(id(index))).toBe(true);
    expect(used.add(id(1820))).toBe(false);
    expect(used.add(id(1))).toBe(false);
    expect(used.add(id(0))).toBe(true);
  });
});
