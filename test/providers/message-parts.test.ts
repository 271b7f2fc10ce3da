import { describe, expect, test } from 'vitest';
import { Channel } from '../../server/channels/channel.ts';
import { failureFromStreamError } from '../../server/providers/messages/event-stream.ts';
import { TokenCounter } from '../../server/providers/messages/token-counter.ts';
import { publicMessage, readMessage } from '../../server/providers/messages/whole-message.ts';
import { ProviderRedactor } from '../../server/providers/provider-redactor.ts';
import { channelTo } from '../support/upstream.ts';

describe('the tokens of a message', () => {
  test('are the last reported counts, with the cache as input', () => {
    const counter = new TokenCounter(99);
    counter.report({ input_tokens: 10, output_tokens: 1, cache_creation_input_tokens: 3 });
    counter.report({ output_tokens: 4, cache_read_input_tokens: 5 });
    const cache = { cachedTokens: 5, cacheWriteTokens: 3 };
    const all = { units: 22, inputTokens: 18, outputTokens: 4, ...cache };
    expect([counter.reported, counter.delivered]).toEqual([all, all]);
    counter.report({ prompt_tokens: 11, completion_tokens: 6, cache_creation_input_tokens: 0 });
    expect(counter.reported).toEqual({
      units: 22,
      inputTokens: 16,
      outputTokens: 6,
      cachedTokens: 5,
    });
    // A report without counts changes nothing.
    counter.report({});
    counter.report(null);
    expect(counter.reported).toEqual({ units: 22, inputTokens: 16, outputTokens: 6, cachedTokens: 5 });
  });

  test('are estimated without a report: one per four bytes, and the likely input', () => {
    const counter = new TokenCounter(7);
    expect(counter.reported).toEqual({ units: 7, inputTokens: 7, outputTokens: 0 });
    counter.addText('äb');
    counter.addText('cd');
    expect(counter.reported).toEqual({ units: 9, inputTokens: 7, outputTokens: 2 });
    expect(counter.delivered).toEqual({ units: 9, inputTokens: 7, outputTokens: 2 });
  });

  test('of an aborted message are the generated text if that is more than the report', () => {
    const counter = new TokenCounter(7);
    counter.report({ output_tokens: 1 });
    counter.addText('x'.repeat(40));
    expect([counter.reported.outputTokens, counter.delivered.outputTokens]).toEqual([1, 10]);
    counter.report({ output_tokens: 12 });
    expect(counter.delivered.outputTokens).toBe(12);
  });

  test('are public with the provider’s other fields', () => {
    const counter = new TokenCounter(7);
    expect(counter.publicUsage(undefined)).toMatchObject({ input_tokens: 7, output_tokens: 0 });
    expect(counter.publicUsage(null)).toMatchObject({ total_tokens: 7 });
    const own = { cache_read_input_tokens: 3, completion_tokens: 2, prompt_tokens: 1, total_tokens: 3 };
    expect(Object.keys(counter.publicUsageAtStart(own)).toSorted()).toEqual([
      'cache_read_input_tokens',
      'input_tokens',
      'output_tokens',
    ]);
    counter.addText('x'.repeat(8));
    expect(counter.publicUsage('none')).toEqual({
      prompt_tokens: 7,
      completion_tokens: 2,
      total_tokens: 9,
      input_tokens: 7,
      output_tokens: 2,
    });
    const report = { input_tokens: 3, output_tokens: 4, cache_read_input_tokens: 5, service_tier: 'x' };
    counter.report(report);
    expect(counter.publicUsage(report)).toMatchObject({ ...report, total_tokens: 7 });
  });
});

describe('a whole message', () => {
  const message = { id: 'm1', role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] };
  const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
  const unusable = expect.objectContaining({ status: 502, code: 'bad_response' });

  test('has the public model and every required field', () => {
    const sent = { ...message, model: 'secret', extra: 1, usage: { input_tokens: 3, output_tokens: 4 } };
    expect(publicMessage(bytes(sent), 'iota-chat-1', new TokenCounter(9))).toEqual({
      ...message,
      type: 'message',
      model: 'iota-chat-1',
      stop_reason: null,
      stop_sequence: null,
      extra: 1,
      usage: {
        prompt_tokens: 3,
        completion_tokens: 4,
        total_tokens: 7,
        input_tokens: 3,
        output_tokens: 4,
      },
    });
    const ended = { ...message, stop_reason: 'end_turn', stop_sequence: '.' };
    expect(publicMessage(bytes(ended), 'iota-chat-1', new TokenCounter(9))).toMatchObject({
      stop_reason: 'end_turn',
      stop_sequence: '.',
    });
  });

  test('without a report costs the generated text, thinking and tool input', () => {
    const counter = new TokenCounter(9);
    const content = [
      { type: 'thinking', thinking: 'x'.repeat(4) },
      { type: 'text', text: 'x'.repeat(8) },
      { type: 'tool_use', input: { a: 'x'.repeat(8) } },
      'nonsense',
    ];
    publicMessage(bytes({ ...message, content }), 'iota-chat-1', counter);
    // The object is 16 bytes of JSON.
    expect(counter.reported).toEqual({ units: 16, inputTokens: 9, outputTokens: 7 });
  });

  test.each([
    { ...message, id: '' },
    { ...message, id: 7 },
    { ...message, role: 'user' },
    { ...message, content: 'Hello.' },
    {},
    null,
  ])('is rejected: %j', (value) => {
    expect(() => readMessage(value)).toThrow(unusable);
    expect(() => publicMessage(bytes(value), 'iota-chat-1', new TokenCounter(9))).toThrow(unusable);
  });

  test('is rejected without JSON', () => {
    expect(() => publicMessage(Buffer.from('{'), 'iota-chat-1', new TokenCounter(9))).toThrow(unusable);
  });
});

describe('an error in a stream', () => {
  const redactor = new ProviderRedactor(new Channel(channelTo('http://127.0.0.1:1'), Date.now));

  test.each([
    ['overloaded_error', 503],
    ['timeout_error', 504],
    ['rate_limit_error', 429],
    ['invalid_request_error', 400],
    ['request_too_large', 400],
    ['not_found_error', 400],
    ['authentication_error', 502],
    ['permission_error', 502],
    ['api_error', 502],
    [undefined, 502],
  ])('of type %s is mapped to %i', (type, status) => {
    expect(failureFromStreamError({ error: { type, message: 'Words.' } }, redactor)).toMatchObject({
      status,
      ...(status === 400 && { code: 'bad_request', message: 'Words.' }),
    });
  });

  test('has a redacted message', () => {
    const messageFor = (message?: string) =>
      failureFromStreamError({ error: { type: 'invalid_request_error', message } }, redactor).message;
    expect(messageFor('see 10.0.0.7')).toBe('see ***');
    expect(messageFor()).toBe('The provider rejected the request.');
    expect(failureFromStreamError(null, redactor)).toMatchObject({ status: 502 });
  });
});
