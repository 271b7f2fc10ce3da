import { isObject } from '../http/json-body.ts';
import { wordsOf } from './extract.ts';
import type { MessageRequest, OfferedTool } from './message-request.ts';

export interface ToolUse {
  name: string;
  input: Readonly<Record<string, unknown>>;
}

/**
 * The tool that the model asks for: the one whose name and description share most words with the question, or any when
 * one must be used. Never when tools have just answered.
 */
export function chooseTool({
  tools,
  mustUseTool,
  question,
  toolResults,
}: MessageRequest): ToolUse | undefined {
  if (toolResults.length > 0) return undefined;
  const asked = new Set(wordsOf(question));
  const [best] = tools
    .map((tool) => ({ tool, shared: sharedWords(tool, asked) }))
    .toSorted((left, right) => right.shared - left.shared);
  if (best === undefined || (best.shared === 0 && !mustUseTool)) return undefined;
  return { name: best.tool.name, input: argumentsFor(best.tool, question) };
}

function sharedWords({ name, description }: OfferedTool, asked: ReadonlySet<string>): number {
  return new Set(wordsOf(`${name.replaceAll(/[_-]/g, ' ')} ${description}`).filter((word) => asked.has(word)))
    .size;
}

/** Arguments that fit the schema, out of the words of the question. */
function argumentsFor({ schema }: OfferedTool, question: string): ToolUse['input'] {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : Object.keys(properties);
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => required.includes(name))
      .map(([name, property]) => [name, valueFor(property, question)]),
  );
}

function valueFor(property: unknown, question: string): unknown {
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
      return mainWord(question);
  }
}

/** What stands in quotes, the last word with a capital letter that does not begin a sentence, or all. */
function mainWord(question: string): string {
  const quoted = /["“]([^"”]+)["”]/.exec(question)?.[1];
  return quoted ?? question.match(/(?<=[\p{Ll},] )\p{Lu}[\p{L}-]+/gu)?.at(-1) ?? question.trim();
}
