import { describe, expect, test } from 'vitest';
import { parseEvents, type ServerSentEvent } from '../../client/index.ts';

async function parse(...chunks: (string | Uint8Array)[]): Promise<ServerSentEvent[]> {
  const encoder = new TextEncoder();
  async function* bytes() {
    for (const chunk of chunks) yield typeof chunk === 'string' ? encoder.encode(chunk) : chunk;
  }
  const events: ServerSentEvent[] = [];
  for await (const parsed of parseEvents(bytes())) events.push(parsed);
  return events;
}

const event = (fields: Partial<ServerSentEvent>): ServerSentEvent => ({
  event: 'message',
  data: '',
  id: '',
  comments: [],
  ...fields,
});

describe('parses', () => {
  test.each<[string, string, Partial<ServerSentEvent>[]]>([
    ['a blank after the colon', 'data: a\n\n', [{ data: 'a' }]],
    ['none', 'data:a\n\n', [{ data: 'a' }]],
    ['only the first blank goes', 'data:  a \n\n', [{ data: ' a ' }]],
    ['a field without a colon', 'data\n\n', [{ data: '' }]],
    ['empty data', 'data:\n\n', [{ data: '' }]],
    ['two empty data lines', 'data\ndata\n\n', [{ data: '\n' }]],
    ['several data lines', 'data:a\ndata: b\ndata\n\n', [{ data: 'a\nb\n' }]],
    ['colons in the value', 'data:a:b: c\n\n', [{ data: 'a:b: c' }]],
    ['names and ids', 'id:1\nevent: ping\ndata:a\n\n', [{ event: 'ping', id: '1', data: 'a' }]],
    [
      'an id lasts, a name does not',
      'id:1\nevent:x\ndata:a\n\ndata:b\n\n',
      [
        { event: 'x', id: '1', data: 'a' },
        { id: '1', data: 'b' },
      ],
    ],
    ['an id with NUL is ignored', 'id:1\nid:2\0\ndata:a\n\n', [{ id: '1', data: 'a' }]],
    ['an event without data is none', 'event:x\nid:7\n\ndata:a\n\n', [{ id: '7', data: 'a' }]],
    ['unknown fields and retry', 'retry:10\nfoo: bar\ndata:a\n\n', [{ data: 'a' }]],
    ['a blank before the name makes another name', ' data:a\ndata:b\n\n', [{ data: 'b' }]],
    [
      'the comments of its event',
      ':one\n: two\ndata:a\n\ndata:b\n\n',
      [{ data: 'a', comments: ['one', 'two'] }, { data: 'b' }],
    ],
    ['comments of no event are dropped', ':ping\n\n:pong\n\ndata:a\n\n', [{ data: 'a' }]],
    ['no end, no event', 'data:a\n\ndata:b\n', [{ data: 'a' }]],
    ['nor without the end of its line', 'data:a\n\ndata:b', [{ data: 'a' }]],
    ['a byte order mark', '\uFEFFdata:a\n\n', [{ data: 'a' }]],
    ['returns', 'data:a\rdata:b\r\rdata:c\r\r', [{ data: 'a\nb' }, { data: 'c' }]],
    ['both', 'data:a\r\ndata:b\r\n\r\ndata:c\r\n\r\n', [{ data: 'a\nb' }, { data: 'c' }]],
    ['a mixture', 'data:a\r\n\rdata:b\n\r\ndata:c\r\r\n', [{ data: 'a' }, { data: 'b' }, { data: 'c' }]],
    ['nothing', '', []],
  ])('%s', async (_, text, expected) => {
    expect(await parse(text)).toEqual(expected.map(event));
    expect(await parse(...text.split(''))).toEqual(expected.map(event));
  });

  test('an event after CR, and LF in the next chunk as part of the line end', async () => {
    expect(await parse('data:a\r', '\ndata:b\r\n\r', '\n')).toEqual([event({ data: 'a\nb' })]);
    async function* open() {
      yield new TextEncoder().encode('data:a\r\r');
      throw new Error('read more than needed');
    }
    expect((await parseEvents(open()).next()).value).toEqual(event({ data: 'a' }));
  });

  test('characters that are split across chunks', async () => {
    const bytes = new TextEncoder().encode('data:你好 🎵\n\n');
    const cut = Array.from(bytes, (_, index) => bytes.slice(index, index + 1));
    expect(await parse(...cut)).toEqual([event({ data: '你好 🎵' })]);
  });

  test('a long line in many chunks', async () => {
    const chunk = 'A'.repeat(1_000);
    const events = await parse('data:', ...Array.from({ length: 2_000 }, () => chunk), '\n\n');
    expect(events.map(({ data }) => data.length)).toEqual([2_000_000]);
  });
});

/** Reproducible pseudo-random numbers: mulberry32. */
function randomness(seed: number) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  const pick = <T>(items: readonly [T, ...T[]]): T => items[below(items.length)] ?? items[0];
  return { below, pick };
}

const sampleTexts = [
  '',
  'a',
  ' two',
  'x:y',
  ':',
  '{"n":1}',
  '你好',
  '🎵🎵',
  'é\u0301',
  ' \t ',
  'data:',
  '\uFEFF',
] as const;

/** Generates a valid stream and its events. */
function compose(seed: number): { bytes: Uint8Array; events: ServerSentEvent[] } {
  const { below, pick } = randomness(seed);
  const end = pick(['\n', '\r', '\r\n']);
  const events: ServerSentEvent[] = [];
  let id = '';
  let text = '';
  const line = (name: string, value: string) => {
    // The parser removes one leading space, so a value with a leading space needs another one.
    const blank = value.startsWith(' ') || below(2) ? ' ' : '';
    text += `${name}:${blank}${value}${end}`;
  };
  for (let count = below(6); count > 0; count--) {
    const comments = Array.from({ length: below(3) }, () => `HTTP_STATUS/${200 + below(300)}`);
    const data = Array.from({ length: 1 + below(3) }, () => pick(sampleTexts));
    const name = pick(['', 'result', 'error', '事件']);
    if (below(2)) {
      id = pick(['1', '42', 'ü']);
      line('id', id);
    }
    if (name) line('event', name);
    for (const comment of comments) text += `:${comment}${end}`;
    if (below(4) === 0) line('retry', '100');
    for (const chunk of data) line('data', chunk);
    text += end;
    events.push({ event: name || 'message', data: data.join('\n'), id, comments });
  }
  if (below(3) === 0) text += `data:unfinished${pick(['', end])}`;
  return { bytes: new TextEncoder().encode(text), events };
}

function cut(bytes: Uint8Array, seed: number): Uint8Array[] {
  const { below } = randomness(seed);
  const longest = 1 + below(24);
  const chunks: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; ) {
    // Chunks may be empty.
    const end = start + below(longest + 1);
    chunks.push(bytes.slice(start, end));
    start = end;
  }
  return chunks;
}

test('parses the same events for all chunk sizes', async () => {
  for (let seed = 1; seed <= 500; seed++) {
    const { bytes, events } = compose(seed);
    expect(await parse(bytes), `stream ${seed} in one piece`).toEqual(events);
    for (let cutSeed = 1; cutSeed <= 5; cutSeed++) {
      expect(
        await parse(...cut(bytes, seed * 10 + cutSeed)),
        `stream ${seed} cut with seed ${cutSeed}`,
      ).toEqual(events);
    }
  }
});
