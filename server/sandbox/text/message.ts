import { createHash, randomUUID } from 'node:crypto';
import { countTextTokens } from '../billing.ts';
import { extractAnswer, wordsOf } from './extract.ts';
import type { MessageRequest } from './message-request.ts';
import { chooseTool } from './tool-use.ts';

export type Block =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'tool_use'; id: string; name: string; input: object };

export interface Message {
  id: string;
  content: readonly Block[];
  stopReason: 'end_turn' | 'max_tokens' | 'stop_sequence' | 'tool_use';
  stopSequence: string | null;
  inputTokens: number;
  outputTokens: number;
}

/** Bytes of a token, as they are billed. */
const tokenBytes = 4;

/** Makes the message that continues a conversation, out of the conversation's own words. */
export function makeMessage(request: MessageRequest): Message {
  const id = `msg_${randomUUID().replaceAll('-', '')}`;
  const thoughts = request.thinks ? [think(request)] : [];
  const tool = chooseTool(request);
  const { text, ...end } = limited(tool === undefined ? extractAnswer(request) : '', request);
  const content: Block[] = [...thoughts];
  if (tool === undefined) content.push({ type: 'text', text });
  else content.push({ type: 'tool_use', id: `toolu_${randomUUID().replaceAll('-', '')}`, ...tool });
  return {
    id,
    content,
    ...(tool === undefined ? end : { stopReason: 'tool_use', stopSequence: null }),
    inputTokens: countTextTokens(request.promptText),
    outputTokens: Math.max(
      1,
      content.reduce((sum, block) => sum + countTextTokens(textOf(block)), 0),
    ),
  };
}

function think({ question, material }: MessageRequest): Block {
  const words = [...new Set(wordsOf(question))].join(', ');
  const thinking = `Looking for ${words || 'nothing'} in ${material.length} texts.`;
  return { type: 'thinking', thinking, signature: createHash('sha256').update(thinking).digest('base64') };
}

/** What of the answer is left behind its given beginning, before a stop sequence and within the limit. */
function limited(
  answer: string,
  { prefill, stopSequences, maxTokens }: MessageRequest,
): Pick<Message, 'stopReason' | 'stopSequence'> & { text: string } {
  let text = answer.startsWith(prefill) ? answer.slice(prefill.length) : answer;
  const [stop] = stopSequences
    .map((sequence) => ({ sequence, at: text.indexOf(sequence) }))
    .filter(({ at }) => at >= 0)
    .toSorted((left, right) => left.at - right.at);
  if (stop !== undefined) text = text.slice(0, stop.at);
  const bytes = Buffer.from(text);
  if (bytes.length > maxTokens * tokenBytes) {
    // A character that is cut in two is left out.
    const head = bytes.toString('utf8', 0, maxTokens * tokenBytes).replace(/\uFFFD+$/, '');
    return { text: head, stopReason: 'max_tokens', stopSequence: null };
  }
  if (stop !== undefined) return { text, stopReason: 'stop_sequence', stopSequence: stop.sequence };
  return { text, stopReason: 'end_turn', stopSequence: null };
}

export function textOf(block: Block): string {
  if (block.type === 'text') return block.text;
  return block.type === 'thinking' ? block.thinking : JSON.stringify(block.input);
}
