import { field, textField } from '../json.ts';
import { unusableResponse } from '../unusable.ts';
import type { TokenTally } from './token-tally.ts';

/**
 * The public message, from a provider's.
 *
 * @throws Failure 502 when it is none
 */
export function publicMessage(bytes: Buffer, model: string, tally: TokenTally): object {
  const message = readMessage(parsed(bytes));
  for (const block of message.content) {
    for (const name of ['text', 'thinking']) tally.wrote(textField(block, name) ?? '');
    const input = field(block, 'input');
    if (input !== undefined) tally.wrote(JSON.stringify(input));
  }
  return finished(message, model, tally);
}

/** A provider's message. @throws Failure 502 when it is none */
export function readMessage(value: unknown): Readonly<Record<string, unknown>> & { content: unknown[] } {
  const content = field(value, 'content');
  const id = textField(value, 'id');
  if (id === undefined || field(value, 'role') !== 'assistant' || !Array.isArray(content))
    throw unusableResponse();
  return { ...(value as object), content };
}

/** The message under the model's public id, with all the fields that clients count on. */
export function finished(
  message: Readonly<Record<string, unknown>>,
  model: string,
  tally: TokenTally,
): object {
  tally.report(message.usage);
  return {
    ...message,
    type: 'message',
    model,
    stop_reason: message.stop_reason ?? null,
    stop_sequence: message.stop_sequence ?? null,
    usage: tally.public(message.usage),
  };
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw unusableResponse();
  }
}
