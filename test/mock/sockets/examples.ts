import { readFileSync } from 'node:fs';
import { isObject, type Json, type JsonObject } from '../../../openapi/tools/document.ts';

interface Message {
  examples: { name: string; payload: Json }[];
}

const bundle = new URL('../../../generated/asyncapi.json', import.meta.url);
const { channels, components } = JSON.parse(readFileSync(bundle, 'utf8')) as {
  channels: Record<string, { address: string }>;
  components: { messages: Record<string, Message> };
};

/** Returns the path of a channel of the AsyncAPI document. */
export function addressOf(channel: string): string {
  const address = channels[channel]?.address;
  if (address === undefined) throw new Error(`the document has no channel ${channel}`);
  return address;
}

/** Returns the payload of an example of a message. Default: the first one. */
export function payloadOf(message: string, name?: string): Json {
  const examples = components.messages[message]?.examples ?? [];
  const found = name === undefined ? examples[0] : examples.find((example) => example.name === name);
  if (found === undefined) throw new Error(`the document has no example ${name ?? ''} of ${message}`);
  return found.payload;
}

/**
 * Returns a copy of an event with values at dotted paths, such as `response.id` or `output.0.id`. Skips paths that the event
 * does not have, so that one set of values fits many events. Undefined removes the field.
 */
export function withValues(payload: Json, values: Readonly<Record<string, Json | undefined>>): JsonObject {
  const event = structuredClone(payload) as JsonObject;
  for (const [path, value] of Object.entries(values)) {
    const keys = path.split('.');
    const last = keys.pop() ?? '';
    const parent = keys.reduce<Json | undefined>((node, key) => childOf(node, key), event);
    if ((!isObject(parent) && !Array.isArray(parent)) || !(last in parent)) continue;
    if (value === undefined) delete (parent as JsonObject)[last];
    else (parent as JsonObject)[last] = value;
  }
  return event;
}

const childOf = (node: Json | undefined, key: string): Json | undefined =>
  isObject(node) || Array.isArray(node) ? (node as JsonObject)[key] : undefined;
