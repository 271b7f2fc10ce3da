import { createHash, randomUUID } from 'node:crypto';
import { countTextTokens } from '../billing.ts';
import { blankTriggers } from '../triggers.ts';
import { contentWords, extractAnswer } from './extract.ts';
import type { MessageRequest } from './message-request.ts';
import { createValue } from './schema-value.ts';
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

/** Bytes per billed token. */
const tokenBytes = 4;

/** Creates the message that continues a conversation, from the text of the conversation. */
export function createMessage(request: MessageRequest): Message {
  const id = `msg_${randomUUID().replaceAll('-', '')}`;
  const thoughts = request.isThinking ? [createThinkingBlock(request)] : [];
  const tool = chooseTool(request);
  const { text, ...end } = truncate(tool === undefined ? createAnswer(request) : '', request);
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
      content.reduce((sum, block) => sum + countTextTokens(blockText(block)), 0),
    ),
  };
}

/** Returns the text of the answer: JSON if the request has a schema for it. */
function createAnswer(request: MessageRequest): string {
  const { answerSchema, question } = request;
  if (answerSchema === undefined) return extractAnswer(request);
  return JSON.stringify(createValue(answerSchema, blankTriggers(question)));
}

function createThinkingBlock({ question, material }: MessageRequest): Block {
  const words = [...new Set(contentWords(question))].join(', ');
  const thinking = `Looking for ${words || 'nothing'} in ${material.length} texts.`;
  return { type: 'thinking', thinking, signature: createHash('sha256').update(thinking).digest('base64') };
}

/** Removes the prefill, and truncates the answer at a stop sequence and at the token limit. */
function truncate(
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
    // Removes an incomplete character at the end.
    const head = bytes.toString('utf8', 0, maxTokens * tokenBytes).replace(/\uFFFD+$/, '');
    return { text: head, stopReason: 'max_tokens', stopSequence: null };
  }
  if (stop !== undefined) return { text, stopReason: 'stop_sequence', stopSequence: stop.sequence };
  return { text, stopReason: 'end_turn', stopSequence: null };
}

export function blockText(block: Block): string {
  if (block.type === 'text') return block.text;
  return block.type === 'thinking' ? block.thinking : JSON.stringify(block.input);
}
