import { deref, isObject, type Json, type JsonObject, objects, pascal, refName, text } from './document.ts';

/** Events that one side of a channel sends, for example RealtimeClientEvent. */
export interface EventUnion {
  name: string;
  side: 'Client' | 'Server';
  members: string[];
}

export interface Events {
  /** Payload schemas and their referenced schemas by name, with `#/components/schemas/` refs. */
  schemas: Record<string, JsonObject>;
  /** Names of the JSON messages. The payload of a message is the schema of the same name. */
  messages: string[];
  unions: EventUnion[];
}

/** Converts the messages of a bundled AsyncAPI document to named schemas. Omits binary frames. */
export function eventsOf(asyncapi: JsonObject): Events {
  const components = isObject(asyncapi.components) ? asyncapi.components : {};
  const schemas = Object.fromEntries(objects(components.schemas));
  const messages = new Set<string>();
  const channels = objects(asyncapi.channels).map(([, channel]) => channel);
  for (const { name, message } of [components, ...channels].flatMap((node) =>
    named(asyncapi, node.messages),
  )) {
    if (messages.has(name) || isBinary(asyncapi, message)) continue;
    addPayload(schemas, name, payloadOf(message));
    messages.add(name);
  }
  return { schemas, messages: [...messages], unions: unionsOf(asyncapi) };
}

/** Messages of a list or map by the name of their definition. */
function named(asyncapi: JsonObject, messages: Json | undefined): { name: string; message: JsonObject }[] {
  return Object.entries(messages ?? {}).map(([key, node]) => {
    const message = deref(asyncapi, node);
    return { name: pascal(message.$at ? refName(message.$at) : key), message };
  });
}

const payloadOf = (message: JsonObject): JsonObject => {
  const { payload } = message;
  if (!isObject(payload)) return {};
  return isObject(payload.schema) ? payload.schema : payload;
};

function isBinary(asyncapi: JsonObject, message: JsonObject): boolean {
  const contentType = text(message.contentType) || text(asyncapi.defaultContentType) || 'application/json';
  return !/json|event-stream/.test(contentType) || deref(asyncapi, payloadOf(message)).format === 'binary';
}

function addPayload(schemas: Record<string, JsonObject>, name: string, payload: JsonObject): void {
  if (payload.$ref === `#/components/schemas/${name}`) return;
  if (schemas[name]) throw new Error(`Rename message ${name} or schema ${name}: they differ.`);
  schemas[name] = payload;
}

function unionsOf(asyncapi: JsonObject): EventUnion[] {
  const unions = new Map<string, EventUnion>();
  for (const [, operation] of objects(asyncapi.operations)) {
    const channel = deref(asyncapi, operation.channel);
    const side = operation.action === 'send' ? 'Server' : 'Client';
    const name = `${pascal(refName(String(channel.$at)))}${side}Event`;
    const union = unions.get(name) ?? { name, side, members: [] };
    const members = named(asyncapi, operation.messages ?? channel.messages)
      .filter(({ message }) => !isBinary(asyncapi, message))
      .map((member) => member.name);
    union.members = [...new Set([...union.members, ...members])];
    if (union.members.length > 0) unions.set(name, union);
  }
  return [...unions.values()];
}
