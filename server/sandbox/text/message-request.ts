import { isObject, type JsonObject } from '../http/json-body.ts';
import { resolveModel } from '../models.ts';
import { Parameters } from '../native/parameters.ts';
import { PromptTexts } from './prompt-texts.ts';

/** A conversation, and how to continue it. */
export interface MessageRequest {
  model: string;
  maxTokens: number;
  stream: boolean;
  stopSequences: readonly string[];
  /** The turn to be answered: what it says, and what tools say in it. */
  question: string;
  toolResults: readonly string[];
  /** All other texts, oldest first: instructions, earlier turns, documents. */
  material: readonly string[];
  /** How the answer begins already, by a last turn of the assistant. */
  prefill: string;
  /** Pictures and files, which nobody looks at. */
  files: number;
  thinks: boolean;
  tools: readonly OfferedTool[];
  mustUseTool: boolean;
  /** All that is billed as input. */
  promptText: string;
}

export interface OfferedTool {
  name: string;
  description: string;
  schema: JsonObject;
}

/** A real model would refuse more; this one only stops there. */
const longestAnswer = 100_000;

/** Throws a `NativeError` 400 or 404 for a body that is no request of the protocol. */
export function readMessageRequest(body: JsonObject): MessageRequest {
  const fields = new Parameters(body, '');
  if (!fields.has('max_tokens')) throw fields.invalid('max_tokens', 'is required');
  const maxTokens = fields.integer('max_tokens', { min: 1, max: Number.MAX_SAFE_INTEGER }, 1);
  return {
    ...readPrompt(body),
    maxTokens: Math.min(maxTokens, longestAnswer),
    stream: fields.flag('stream'),
    stopSequences: fields.list('stop_sequences').filter((one) => typeof one === 'string'),
  };
}

/** What is read of a conversation that is only counted. Throws the same errors. */
export function readPrompt(body: JsonObject): Omit<MessageRequest, 'maxTokens' | 'stream' | 'stopSequences'> {
  const fields = new Parameters(body, '');
  const model = resolveModel(body.model, 'messages').id;
  const turns = fields.list('messages').filter(isObject);
  if (turns.length === 0) throw fields.invalid('messages', 'must have a turn');
  const texts = new PromptTexts();
  texts.read(body.system);
  const spoken = turns.map(({ role, content }) => ({ role, ...texts.read(content) }));
  const asked = spoken.findLast(({ role }) => role === 'user');
  const last = spoken.at(-1);
  const prefill = last?.role === 'assistant' ? last.text : '';
  const choice = isObject(body.tool_choice) ? body.tool_choice : {};
  const offered = choice.type === 'none' ? [] : fields.list('tools').flatMap(readTool);
  return {
    model,
    question: asked?.text ?? '',
    toolResults: asked?.toolResults ?? [],
    material: texts.said.filter((text) => text !== asked?.text && text !== prefill),
    prefill,
    files: texts.files,
    thinks: isObject(body.thinking) && body.thinking.type === 'enabled',
    tools: offered.filter(({ name }) => choice.type !== 'tool' || name === choice.name),
    mustUseTool: choice.type === 'any' || choice.type === 'tool',
    promptText: [...texts.all, JSON.stringify(body.tools ?? '')].join('\n'),
  };
}

/** Tools that the provider would run itself are beyond this one. */
function readTool(tool: unknown): OfferedTool[] {
  if (!isObject(tool) || !isObject(tool.input_schema) || typeof tool.name !== 'string') return [];
  const description = typeof tool.description === 'string' ? tool.description : '';
  return [{ name: tool.name, description, schema: tool.input_schema }];
}
