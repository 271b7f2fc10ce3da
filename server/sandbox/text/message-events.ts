import { type Block, type Message, textOf } from './message.ts';

export type MessageEvent = { type: string } & Readonly<Record<string, unknown>>;

/** The events of a message, piece by piece. */
export function* eventsOf(message: Message, model: string): Generator<MessageEvent> {
  const usage = { input_tokens: message.inputTokens, output_tokens: 1 };
  const empty = { id: message.id, type: 'message', role: 'assistant', content: [], model };
  yield {
    type: 'message_start',
    message: { ...empty, stop_reason: null, stop_sequence: null, usage },
  };
  for (const [index, block] of message.content.entries()) {
    yield { type: 'content_block_start', index, content_block: emptied(block) };
    if (index === 0) yield { type: 'ping' };
    for (const piece of piecesOf(textOf(block)))
      yield { type: 'content_block_delta', index, delta: deltaOf(block, piece) };
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

function emptied(block: Block): object {
  if (block.type === 'text') return { ...block, text: '' };
  return block.type === 'thinking' ? { ...block, thinking: '', signature: '' } : { ...block, input: {} };
}

function deltaOf({ type }: Block, piece: string): object {
  if (type === 'text') return { type: 'text_delta', text: piece };
  return type === 'thinking'
    ? { type: 'thinking_delta', thinking: piece }
    : { type: 'input_json_delta', partial_json: piece };
}

/** A text word by word; of one without blanks, some characters at a time. */
function piecesOf(text: string): string[] {
  return text.match(/\s*\S{1,16}\s*/gu) ?? [];
}
