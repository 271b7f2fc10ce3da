import { isObject, type JsonObject } from '../http/json-body.ts';

/** Collects the texts of a prompt, in order. */
export class PromptTexts {
  /** Texts of users, documents and the model. */
  readonly withoutToolResults: string[] = [];
  /** The same, including tool results. */
  readonly all: string[] = [];
  /** Number of images and binary documents. */
  files = 0;

  /** Reads the content of a turn, a text or blocks. Returns its text and its tool results. */
  read(content: unknown): { text: string; toolResults: readonly string[] } {
    const ownTexts: string[] = [];
    const toolResults: string[] = [];
    for (const block of typeof content === 'string' ? [{ type: 'text', text: content }] : blocksIn(content)) {
      if (block.type === 'text') ownTexts.push(...textsIn([block]));
      else if (block.type === 'tool_result') toolResults.push(textsIn(block.content).join(' '));
      else if (block.type === 'document' || block.type === 'search_result') this.#readDocument(block);
      else if (block.type === 'image') this.files += 1;
    }
    const text = ownTexts.join('\n');
    if (text !== '') this.#add(text);
    this.all.push(...toolResults);
    return { text, toolResults };
  }

  #readDocument({ source, content }: JsonObject): void {
    const { type, data, content: inner } = isObject(source) ? source : { content };
    const texts = textsIn(type === 'text' ? data : inner);
    if (texts.length === 0) this.files += 1;
    for (const text of texts) this.#add(text);
  }

  #add(text: string): void {
    this.withoutToolResults.push(text);
    this.all.push(text);
  }
}

function blocksIn(content: unknown): JsonObject[] {
  return Array.isArray(content) ? content.filter(isObject) : [];
}

function textsIn(content: unknown): string[] {
  if (typeof content === 'string') return [content];
  return blocksIn(content).flatMap(({ text }) => (typeof text === 'string' && text !== '' ? [text] : []));
}
