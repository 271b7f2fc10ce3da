import type { components, MessageEvent } from '../../index.ts';

type Schemas = components['schemas'];
export type OutputBlock = Schemas['OutputContentBlock'];
type Delta = Extract<MessageEvent, { type: 'content_block_delta' }>['delta'];
type Usage = Pick<Schemas['MessageUsage'], 'input_tokens' | 'output_tokens'>;

/** A message of the model, as far as its events have arrived. */
export interface Reply {
  content: readonly OutputBlock[];
  /** JSON of the tool inputs that are not complete, by index of the block. */
  partialInputs: Readonly<Record<number, string>>;
  stopReason: Schemas['StopReason'];
  usage: Usage | undefined;
}

export const emptyReply: Reply = { content: [], partialInputs: {}, stopReason: null, usage: undefined };

/** Returns the message with one more event applied. */
export function applyEvent(reply: Reply, event: MessageEvent): Reply {
  switch (event.type) {
    case 'message_start':
      return { ...reply, usage: event.message.usage };
    case 'content_block_start':
      return { ...reply, content: reply.content.toSpliced(event.index, 1, event.content_block) };
    case 'content_block_delta':
      return applyDelta(reply, event.index, event.delta);
    case 'content_block_stop':
      return completeInput(reply, event.index);
    case 'message_delta':
      return { ...reply, stopReason: event.delta.stop_reason, usage: { ...reply.usage, ...event.usage } };
    default:
      return reply;
  }
}

function applyDelta(reply: Reply, index: number, delta: Delta): Reply {
  if (delta.type === 'input_json_delta') {
    const input = `${reply.partialInputs[index] ?? ''}${delta.partial_json}`;
    return { ...reply, partialInputs: { ...reply.partialInputs, [index]: input } };
  }
  const block = reply.content[index];
  return block === undefined ? reply : { ...reply, content: reply.content.with(index, extend(block, delta)) };
}

function extend(block: OutputBlock, delta: Delta): OutputBlock {
  if (block.type === 'text' && delta.type === 'text_delta')
    return { ...block, text: block.text + delta.text };
  if (block.type === 'text' && delta.type === 'citations_delta')
    return { ...block, citations: [...(block.citations ?? []), delta.citation] };
  if (block.type === 'thinking' && delta.type === 'thinking_delta')
    return { ...block, thinking: block.thinking + delta.thinking };
  if (block.type === 'thinking' && delta.type === 'signature_delta')
    return { ...block, signature: delta.signature };
  return block;
}

/** Parses the input of a tool once it is complete. Input that `max_tokens` cut off stays partial. */
function completeInput(reply: Reply, index: number): Reply {
  const { [index]: text, ...partialInputs } = reply.partialInputs;
  const block = reply.content[index];
  const input = parseObject(text);
  if (block?.type !== 'tool_use' || input === undefined) return reply;
  return { ...reply, content: reply.content.with(index, { ...block, input }), partialInputs };
}

function parseObject(text: string | undefined): Record<string, unknown> | undefined {
  if (!text) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
