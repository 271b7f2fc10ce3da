import { describe, expect, test } from 'vitest';
import { publicEvents } from '../../server/providers/messages/event-stream.ts';
import { TokenCounter } from '../../server/providers/messages/token-counter.ts';
import { ProviderRedactor } from '../../server/providers/provider-redactor.ts';
import { channelTo } from '../support/upstream.ts';

const redactor = new ProviderRedactor({ settings: channelTo('http://127.0.0.1:1'), hosts: [] });

const event = (data: { type: string; [name: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const message = { id: 'msg_1', role: 'assistant', content: [], model: 'vendor-large-5' };
const start = event({ type: 'message_start', extra: 1, message: { ...message, usage: { input_tokens: 8 } } });
const block = event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
const delta = (part: object) => event({ type: 'content_block_delta', index: 0, delta: part });
const hello = delta({ type: 'text_delta', text: 'größe.' });
const end = event({ type: 'message_delta', extra: 2, delta: { stop_reason: 'end_turn' } });
const stop = event({ type: 'message_stop' });
const counters = (input: number, output: number) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  input_tokens: input,
  output_tokens: output,
});
const charged = 17;
let charge: number | undefined = charged;

const shownStart = (body: string) =>
  event({
    type: 'message_start',
    extra: 1,
    message: {
      ...message,
      model: 'iota-chat-1',
      usage: { input_tokens: 8, output_tokens: 0 },
      type: 'message',
      stop_reason: null,
      stop_sequence: null,
    },
  }) + body;
/** The end of the message with the tokens that were generated, and its charge. */
const shownEnd = (output: number) =>
  event({
    type: 'message_delta',
    extra: 2,
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { ...counters(8, output), cost: charged },
  }) + stop;

/** Output for chunks, with a mark where the call is finished, and the error. */
async function passed(...chunks: (string | Buffer)[]): Promise<{ out: string[]; error?: unknown }> {
  const out: string[] = [];
  async function* body() {
    yield* chunks.map((chunk) => Buffer.from(chunk));
  }
  const finish = async () => {
    out.push('finished');
    return charge;
  };
  const given = { model: 'iota-chat-1', counter: new TokenCounter(99), redactor };
  try {
    for await (const bytes of publicEvents(body(), given, finish)) out.push(bytes.toString());
    return { out };
  } catch (error) {
    return { out, error };
  }
}
const lost = (message: string) => expect.objectContaining({ status: 502, code: 'bad_response', message });
const unusable = lost('The provider did not give a usable answer.');
const brokenOff = lost('The provider broke off.');

const sorted = (text: string) =>
  text.split('\n').map((line) => {
    if (!line.startsWith('data: ')) return line;
    return JSON.parse(line.slice('data: '.length)) as unknown;
  });

test('a message has the public model, the counters and the charge, and is finished before its last events', async () => {
  const { out } = await passed(start + block + hello + end + stop);
  expect(out.map(sorted)).toEqual([shownStart(block + hello), 'finished', shownEnd(2)].map(sorted));
  expect(out[0]).toContain(block + hello);
});

test('a message is translated with any chunk size, line end and trailing data', async () => {
  const whole = start + block + hello + end + stop;
  const forms = [
    whole.replaceAll('\n', '\r\n'),
    whole.replaceAll('\n', '\r'),
    whole.replaceAll(/event: \w+\n/g, ''),
    whole.replaceAll('event: ', 'event:'),
    whole.replaceAll('data: ', 'data:'),
    whole.replaceAll('data: {', 'data: \ndata: {'),
    `: hello\n\n${event({ type: 'ping' })}${whole}`,
    `${whole}: bye\n\nevent: ping\ndata: {"type"`,
  ];
  const expected = sorted(shownStart(block + hello) + shownEnd(2));
  for (const form of forms)
    expect(sorted((await passed(form)).out.filter((one) => one !== 'finished').join(''))).toEqual(expected);
  const bytes = Buffer.from(whole);
  const cut = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) =>
    bytes.subarray(at * 7, at * 7 + 7),
  );
  const { out } = await passed(...cut);
  expect(sorted(out.filter((one) => one !== 'finished').join(''))).toEqual(expected);
  expect(out).toContain(hello);
});

test('a ping and a comment are forwarded after the start of the message', async () => {
  const ping = event({ type: 'ping' });
  const { out } = await passed(`: hello\n\n${ping}${start}${ping}: here\n\n`);
  expect(sorted(out.join(''))).toEqual(sorted(`${shownStart('')}${ping}: here\n\n`));
});

test('events in another layout are rewritten, others stay unchanged', async () => {
  const odd = 'event: ping\ndata: { "type": "ping" }\n\n';
  const written = 'event: ping\ndata: {"type":"ping"}\n\n';
  for (const [given, goesOn] of [
    [odd, odd],
    ['data: {"type":"ping"}\n\n', written],
    ['event: other\ndata: {"type":"ping"}\n\n', written],
    ['event: ping\ndata: {"type":\ndata: "ping"}\n\n', written],
    ['event: ping\ndata: {"type":"ping"}\nid: 7\n\n', written],
    ['event: ping\r\ndata: {"type":"ping"}\r\n\r\n', written],
  ] as const)
    expect((await passed(start, given)).out[1]).toBe(goesOn);
});

test('all generated text counts if the provider reports no usage', async () => {
  const parts = [
    { type: 'text_delta', text: 'x'.repeat(4) },
    { type: 'thinking_delta', thinking: 'x'.repeat(8) },
    { type: 'input_json_delta', partial_json: 'x'.repeat(16) },
    { type: 'signature_delta', signature: 'x'.repeat(32) },
  ];
  const { out } = await passed(start + parts.map(delta).join('') + end + stop);
  expect(out.at(-1)).toContain(JSON.stringify(counters(8, 7)).slice(1, -1));
  const report = event({ type: 'message_delta', delta: {}, usage: { output_tokens: 3, own: 1, cost: 0.2 } });
  const { out: counted } = await passed(start, parts.map(delta).join(''), report, stop);
  expect(sorted(counted.at(-1) ?? '')[1]).toEqual({
    type: 'message_delta',
    delta: { stop_reason: null, stop_sequence: null },
    usage: { ...counters(8, 3), own: 1, cost: charged },
  });
});

test('the usage before the end of a message has no charge', async () => {
  const early = event({ type: 'message_delta', delta: {}, usage: { output_tokens: 1 } });
  const ping = event({ type: 'ping' });
  const { out } = await passed(start, early, hello, end, ping, stop);
  const costs = (text: string) => text.match(/"cost":\d+/g) ?? [];
  expect(out.map(costs)).toEqual([[], [], [], [], [`"cost":${charged}`]]);
  // Only events of the message release an early usage.
  expect(out[1]).toContain('"output_tokens":1');
  expect(out[2]).toBe(ping);
});

test('a refunded message has no charge', async () => {
  charge = undefined;
  const { out } = await passed(start + end + stop);
  charge = charged;
  expect(out.join('')).not.toContain('cost');
});

describe('an invalid message', () => {
  test.each([
    ['invalid JSON', 'data: {"type":"mess\n\n'],
    ['data that is null', 'data: null\n\n'],
    ['data that is a text', 'data: "message_start"\n\n'],
    ['data without a type', 'data: {}\n\n'],
    ['a message without an id', event({ type: 'message_start', message: {} })],
    ['text before the message', hello],
    ['an end before the message', end],
    ['a stop before the message', stop],
  ])('%s is a 502 before any output', async (_, text) => {
    expect(await passed(text)).toEqual({ out: [], error: unusable });
  });

  test.each([
    ['nothing', ''],
    ['comments alone', ': a\n\n: b\n\n'],
    ['an event cut off', start.slice(0, 30)],
  ])('%s is an incomplete message', async (_, text) => {
    expect(await passed(text)).toEqual({ out: [], error: brokenOff });
    const { out, error } = await passed(start + hello + text);
    expect([out.length, error]).toEqual([1, brokenOff]);
  });

  test.each([
    ['data without a type', 'data: {}\n\n'],
    ['data that is null', 'data: null\n\n'],
    ['another message', start],
    ['an end without a reason', event({ type: 'message_delta' })],
    ['an end whose reason is a text', event({ type: 'message_delta', delta: 'end' })],
    ['an end whose reason is null', event({ type: 'message_delta', delta: null })],
  ])('%s after the start is a 502 after the output before', async (_, text) => {
    const { out, error } = await passed(start + hello + text);
    expect(out).toHaveLength(1);
    expect(out[0]?.endsWith(hello)).toBe(true);
    expect(error).toEqual(unusable);
  });

  test('an error that the provider reports is mapped at any position', async () => {
    const failure = event({ type: 'error', error: { type: 'overloaded_error', message: 'at llm-7' } });
    const overloaded = expect.objectContaining({ status: 503 });
    expect(await passed(failure)).toEqual({ out: [], error: overloaded });
    expect(await passed(start, event({ type: 'ping' }) + failure)).toEqual({
      out: [expect.any(String), event({ type: 'ping' })],
      error: overloaded,
    });
  });

  test('an event of more than 16 MiB is a 502, with any number of chunks', async () => {
    const chunk = Buffer.alloc(8 * 1024 * 1024 - 1, 'x');
    // A comment that waits for its end: nothing in it has to be parsed.
    const { out } = await passed(start, ':', chunk, 'x', chunk, '\n');
    expect(out[1]).toHaveLength(16 * 1024 * 1024 + 1);
    const { out: before, error } = await passed(start, ':', chunk, 'xx', chunk, `\n${end}${stop}`);
    expect([before.length, error]).toEqual([1, lost('The provider sent an event that is too long.')]);
  });
});
