import { field, parseJson, textField } from '../../lib/json.ts';
import { unusableResponse } from '../unusable-response.ts';
import type { TokenCounter } from './token-counter.ts';

/** A public message. The contract has its other fields. */
interface PublicMessage extends Readonly<Record<string, unknown>> {
  usage: object;
}

/** Translates a provider's message to a public one. @throws Failure 502 when it is not a message */
export function publicMessage(bytes: Buffer, model: string, counter: TokenCounter): PublicMessage {
  const message = readMessage(parseJson(bytes));
  for (const block of message.content) {
    for (const name of ['text', 'thinking']) counter.addText(textField(block, name) ?? '');
    const input = field(block, 'input');
    if (input !== undefined) counter.addText(JSON.stringify(input));
  }
  return toPublicMessage(message, model, counter);
}

/** Checks a provider's message. @throws Failure 502 when it is not one */
export function readMessage(value: unknown): Readonly<Record<string, unknown>> & { content: unknown[] } {
  const content = field(value, 'content');
  const id = textField(value, 'id');
  if (id === undefined || field(value, 'role') !== 'assistant' || !Array.isArray(content))
    throw unusableResponse();
  return { ...(value as object), content };
}

/** Sets the model's public id and the fields that clients require. */
export function toPublicMessage(
  message: Readonly<Record<string, unknown>>,
  model: string,
  counter: TokenCounter,
): PublicMessage {
  counter.report(message.usage);
  return {
    ...message,
    type: 'message',
    model,
    stop_reason: message.stop_reason ?? null,
    stop_sequence: message.stop_sequence ?? null,
    usage: counter.publicUsage(message.usage),
  };
}
