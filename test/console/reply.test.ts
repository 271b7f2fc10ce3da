import { describe, expect, test } from 'vitest';
import { Conversation } from '../../client/console/messages/conversation.ts';
import type { MessageEvent } from '../../client/index.ts';

const thinking = { type: 'thinking', thinking: '', signature: '' } as const;
const tool = { type: 'tool_use', id: 'toolu_1', name: 'get_tide', input: {} } as const;

const start = (index: number, content_block: typeof thinking | typeof tool): MessageEvent => ({
  type: 'content_block_start',
  index,
  content_block,
});
const stop = (index: number): MessageEvent => ({ type: 'content_block_stop', index });
const delta = (
  index: number,
  change: Extract<MessageEvent, { type: 'content_block_delta' }>['delta'],
): MessageEvent => ({ type: 'content_block_delta', index, delta: change });
const input = (index: number, partial_json: string) =>
  delta(index, { type: 'input_json_delta', partial_json });

/** A stream that sends events and then fails, if there is an error. */
function streamOf(events: readonly MessageEvent[], error?: Error) {
  return {
    requestId: 'req_1',
    async *[Symbol.asyncIterator]() {
      yield* events;
      if (error !== undefined) throw error;
    },
  };
}

async function receive(events: readonly MessageEvent[], error?: Error): Promise<Conversation> {
  const conversation = new Conversation();
  conversation.say([{ type: 'text', text: 'When?' }]);
  const received = conversation.receive(streamOf(events, error), new AbortController().signal);
  if (error === undefined) await received;
  else await expect(received).rejects.toBe(error);
  return conversation;
}

describe('a streamed message of the console', () => {
  test('sends thinking and tool input back as they arrived', async () => {
    const { messages, openToolUses } = await receive([
      start(0, thinking),
      delta(0, { type: 'thinking_delta', thinking: 'A tide.' }),
      delta(0, { type: 'signature_delta', signature: 'c2ln' }),
      stop(0),
      start(1, tool),
      input(1, '{"harbour":'),
      input(1, '"Vik"}'),
      stop(1),
    ]);
    const use = { ...tool, input: { harbour: 'Vik' } };
    expect(messages.value).toEqual([
      { role: 'user', content: 'When?' },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'A tide.', signature: 'c2ln' }, use] },
    ]);
    expect(openToolUses.value).toEqual([use]);
  });

  test('keeps the input of a tool without arguments, and of one that was cut off', async () => {
    const { turns } = await receive([start(0, tool), stop(0), start(1, tool), input(1, '{"harb'), stop(1)]);
    expect(turns.value.at(-1)).toMatchObject({ content: [tool, tool], partialInputs: { 1: '{"harb' } });
  });

  test('leaves out thinking without a signature when the stream fails', async () => {
    const { messages, turns } = await receive(
      [start(0, thinking), delta(0, { type: 'thinking_delta', thinking: 'A ti' })],
      new Error('lost'),
    );
    expect(turns.value.at(-1)).toMatchObject({ state: 'failed', requestId: 'req_1' });
    expect(messages.value).toEqual([{ role: 'user', content: 'When?' }]);
  });
});
