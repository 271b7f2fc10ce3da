import { contentWords } from './extract.ts';
import type { MessageRequest, OfferedTool } from './message-request.ts';
import { createObject } from './schema-value.ts';

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
  return { name: best.tool.name, input: createObject(best.tool.schema, question) };
}

function countSharedWords({ name, description }: OfferedTool, questionWords: ReadonlySet<string>): number {
  return new Set(
    contentWords(`${name.replaceAll(/[_-]/g, ' ')} ${description}`).filter((word) => questionWords.has(word)),
  ).size;
}
