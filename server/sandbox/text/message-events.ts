import { type Block, blockText, type Message } from './message.ts';

export type MessageEvent = { type: string } & Readonly<Record<string, unknown>>;

/** Yields the streaming events of a message. */
export function* createEvents(message: Message, model: string): Generator<MessageEvent> {
  const usage = { input_tokens: message.inputTokens, output_tokens: 1 };
  const empty = { id: message.id, type: 'message', role: 'assistant', content: [], model };
  yield {
    type: 'message_start',
    message: { ...empty, stop_reason: null, stop_sequence: null, usage },
  };
  for (const [index, block] of message.content.entries()) {
    yield { type: 'content_block_start', index, content_block: emptyBlock(block) };
    if (index === 0) yield { type: 'ping' };
    for (const chunk of splitChunks(blockText(block)))
      yield { type: 'content_block_delta', index, delta: createDelta(block, chunk) };
    if (block.type === 'thinking') {
      const delta = { type: 'signature_delta', signature: block.signature };
      yield { type: 'content_block_delta', index, delta };
    }
    yield { type: 'content_block_stop', index };
  }
  yield {
    type: 'message_delta',
    delta: { stop_reason: message.stopReason, stop_sequence: message.stopSequence },
    usage: { output_tokens: message.outputTokens },
  };
  yield { type: 'message_stop' };
}

function emptyBlock(block: Block): object {
  if (block.type === 'text') return { ...block, text: '' };
  return block.type === 'thinking' ? { ...block, thinking: '', signature: '' } : { ...block, input: {} };
}

function createDelta({ type }: Block, chunk: string): object {
  if (type === 'text') return { type: 'text_delta', text: chunk };
  return type === 'thinking'
    ? { type: 'thinking_delta', thinking: chunk }
    : { type: 'input_json_delta', partial_json: chunk };
}

/** Splits a text by words, or after at most 16 characters without a space. */
function splitChunks(text: string): string[] {
  return text.match(/\s*\S{1,16}\s*/gu) ?? [];
}
