import { isObject, type JsonObject } from '../http/json-body.ts';
import { resolveModel } from '../models.ts';
import { Parameters } from '../native/parameters.ts';
import { PromptTexts } from './prompt-texts.ts';

/** A conversation and the parameters of the response. */
export interface MessageRequest {
  model: string;
  maxTokens: number;
  stream: boolean;
  stopSequences: readonly string[];
  /** Text of the last user turn. */
  question: string;
  toolResults: readonly string[];
  /** All other texts, the oldest first: instructions, earlier turns, documents. */
  material: readonly string[];
  /** Start of the response, from a last turn of the assistant. */
  prefill: string;
  /** Number of images and files, which are not evaluated. */
  files: number;
  isThinking: boolean;
  tools: readonly OfferedTool[];
  mustUseTool: boolean;
  /** JSON schema of the text. Undefined for plain text. */
  answerSchema: JsonObject | undefined;
  /** Text that is billed as input. */
  promptText: string;
}

export interface OfferedTool {
  name: string;
  description: string;
  schema: JsonObject;
}

/** Limit of the response. Larger values of `max_tokens` are accepted. */
const maxAnswerTokens = 100_000;

/** Reads the body of a request. Throws a `NativeError` 400 or 404 if it is invalid. */
export function readMessageRequest(body: JsonObject): MessageRequest {
  const fields = new Parameters(body, '');
  if (!fields.has('max_tokens')) throw fields.invalid('max_tokens', 'is required');
  const maxTokens = fields.integer('max_tokens', { min: 1, max: Number.MAX_SAFE_INTEGER }, 1);
  return {
    ...readPrompt(body),
    maxTokens: Math.min(maxTokens, maxAnswerTokens),
    stream: fields.flag('stream'),
    stopSequences: fields.list('stop_sequences').filter((one) => typeof one === 'string'),
  };
}

/** Reads the part of a request that is needed to count its tokens. Throws the same errors. */
export function readPrompt(body: JsonObject): Omit<MessageRequest, 'maxTokens' | 'stream' | 'stopSequences'> {
  const fields = new Parameters(body, '');
  const model = resolveModel(body.model, 'messages').id;
  const turns = fields.list('messages').filter(isObject);
  if (turns.length === 0) throw fields.invalid('messages', 'must contain at least one message');
  const texts = new PromptTexts();
  texts.read(body.system);
  const parsedTurns = turns.map(({ role, content }) => ({ role, ...texts.read(content) }));
  const lastUserTurn = parsedTurns.findLast(({ role }) => role === 'user');
  const last = parsedTurns.at(-1);
  const prefill = last?.role === 'assistant' ? last.text : '';
  const choice = isObject(body.tool_choice) ? body.tool_choice : {};
  const offered = choice.type === 'none' ? [] : fields.list('tools').flatMap(readTool);
  return {
    model,
    question: lastUserTurn?.text ?? '',
    toolResults: lastUserTurn?.toolResults ?? [],
    material: texts.withoutToolResults.filter((text) => text !== lastUserTurn?.text && text !== prefill),
    prefill,
    files: texts.files,
    isThinking: isObject(body.thinking) && body.thinking.type === 'enabled',
    tools: offered.filter(({ name }) => choice.type !== 'tool' || name === choice.name),
    mustUseTool: choice.type === 'any' || choice.type === 'tool',
    answerSchema: readAnswerSchema(fields),
    promptText: [...texts.all, JSON.stringify(body.tools ?? '')].join('\n'),
  };
}

/** Reads `output_config.format`. */
function readAnswerSchema(fields: Parameters): JsonObject | undefined {
  const format = fields.object('output_config')?.object('format');
  if (format === undefined) return undefined;
  format.choice('type', ['json_schema'], 'json_schema');
  return format.requiredJson('schema');
}

/** Returns an empty list for a tool that the provider itself would run. */
function readTool(tool: unknown): OfferedTool[] {
  if (!isObject(tool) || !isObject(tool.input_schema) || typeof tool.name !== 'string') return [];
  const description = typeof tool.description === 'string' ? tool.description : '';
  return [{ name: tool.name, description, schema: tool.input_schema }];
}
