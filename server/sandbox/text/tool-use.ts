import { isObject } from '../http/json-body.ts';
import { contentWords } from './extract.ts';
import type { MessageRequest, OfferedTool } from './message-request.ts';

export interface ToolUse {
  name: string;
  input: Readonly<Record<string, unknown>>;
}

/**
 * Chooses the tool whose name and description have the most words in common with the question. Without common words,
 * chooses a tool only if one is required. Never chooses a tool after tool results.
 */
export function chooseTool({
  tools,
  mustUseTool,
  question,
  toolResults,
}: MessageRequest): ToolUse | undefined {
  if (toolResults.length > 0) return undefined;
  const questionWords = new Set(contentWords(question));
  const [best] = tools
    .map((tool) => ({ tool, shared: countSharedWords(tool, questionWords) }))
    .toSorted((left, right) => right.shared - left.shared);
  if (best === undefined || (best.shared === 0 && !mustUseTool)) return undefined;
  return { name: best.tool.name, input: createArguments(best.tool, question) };
}

function countSharedWords({ name, description }: OfferedTool, questionWords: ReadonlySet<string>): number {
  return new Set(
    contentWords(`${name.replaceAll(/[_-]/g, ' ')} ${description}`).filter((word) => questionWords.has(word)),
  ).size;
}

/** Creates arguments that match the schema from the words of the question. */
function createArguments({ schema }: OfferedTool, question: string): ToolUse['input'] {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : Object.keys(properties);
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => required.includes(name))
      .map(([name, property]) => [name, createValue(property, question)]),
  );
}

function createValue(property: unknown, question: string): unknown {
  const { type, enum: choices, default: usual } = isObject(property) ? property : {};
  if (usual !== undefined) return usual;
  if (Array.isArray(choices))
    return choices.find((one) => typeof one === 'string' && question.includes(one)) ?? choices[0];
  const number = Number(/-?\d+(?:\.\d+)?/.exec(question)?.[0] ?? 0);
  switch (type) {
    case 'number':
      return number;
    case 'integer':
      return Math.trunc(number);
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return findMainWord(question);
  }
}

/** Returns the quoted text, otherwise the last capitalized word within a sentence, otherwise the whole question. */
function findMainWord(question: string): string {
  const quoted = /["“]([^"”]+)["”]/.exec(question)?.[1];
  return quoted ?? question.match(/(?<=[\p{Ll},] )\p{Lu}[\p{L}-]+/gu)?.at(-1) ?? question.trim();
}
