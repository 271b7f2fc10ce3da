import type { JsonObject } from '../../../openapi/tools/document.ts';
import type { Edit } from './edits.ts';

/** The edited part: a channel on which the gateway receives one event and sends two. */
export interface EventCase {
  channels: { [name: string]: { address?: string; messages: JsonObject } & JsonObject };
  operations: { [name: string]: Operation };
  messages: { [name: string]: JsonObject };
  /** Payloads of the client's event and of the gateway's event. */
  received: Schema;
  sent: Schema;
}

interface Operation extends JsonObject {
  action: string;
  channel: { $ref: string };
}

interface Schema extends JsonObject {
  required: string[];
  properties: { [name: string]: JsonObject };
}

/** `socket`: one channel for both directions. Streams and callbacks have a channel per direction and no list of messages. */
export type EventPlace = 'socket' | 'stream' | 'callback';

export function eventCase(name: string, place: EventPlace = 'socket'): EventCase {
  const message = (kind: string) => ({
    [`${name}${kind}`]: { $ref: `#/components/messages/${name}${kind}` },
  });
  const received = message('Request');
  const sent = { ...message('Reply'), ...message('End') };
  const address: { address: string } | object = place === 'callback' ? {} : { address: `/${name}` };
  const description = 'A channel.';
  const operation = (action: 'receive' | 'send', channel: string, messages: object): Operation => ({
    action,
    channel: { $ref: `#/channels/${channel}` },
    ...(place === 'socket' && {
      messages: Object.keys(messages).map((one) => ({ $ref: `#/channels/${channel}/messages/${one}` })),
    }),
  });
  const payload = (kind: string) => ({
    name: `${name}.${kind}`,
    headers: {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'string' }, at: { type: 'string' } },
    },
    payload: { $ref: `#/components/schemas/${name}${kind}` },
  });
  const input = place === 'socket' ? name : `${name}Input`;
  return {
    channels: {
      [name]: { ...address, description, messages: place === 'socket' ? { ...received, ...sent } : sent },
      ...(place !== 'socket' && { [input]: { description, messages: received } }),
    },
    operations: {
      [`${name}Receive`]: operation('receive', input, received),
      [`${name}Send`]: operation('send', name, sent),
    },
    messages: {
      Request: payload('Request'),
      Reply: payload('Reply'),
      End: { name: `${name}.end`, payload: { type: 'object' } },
    },
    received: {
      type: 'object',
      required: ['type'],
      properties: {
        type: { type: 'string', const: 'request' },
        kind: { type: 'string', enum: ['a', 'b'] },
        rate: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
        free: { type: 'string' },
      },
    },
    sent: {
      type: 'object',
      required: ['type', 'id'],
      properties: {
        type: { type: 'string', const: 'reply' },
        id: { type: 'string' },
        note: { type: 'string' },
        state: { type: 'string', enum: ['a', 'b'] },
      },
    },
  };
}

const operation = ({ operations }: EventCase, end: 'Receive' | 'Send') => {
  const found = Object.entries(operations).find(([name]) => name.endsWith(end));
  if (found === undefined) throw new Error(`no operation ends in ${end}`);
  return found;
};
const channelOf = (one: EventCase, end: 'Receive' | 'Send') => {
  const channel = one.channels[operation(one, end)[1].channel.$ref.replace('#/channels/', '')];
  if (channel === undefined) throw new Error(`the operation has no channel`);
  return channel;
};
/** Removes the last message of an operation from its list, or from its channel if it has none. */
const removeMessage = (one: EventCase, end: 'Receive' | 'Send') => {
  const { messages } = operation(one, end)[1];
  const { messages: all } = channelOf(one, end);
  if (Array.isArray(messages)) messages.pop();
  else delete all[Object.keys(all).at(-1) ?? ''];
};
const message = ({ messages }: EventCase, kind: string): JsonObject => messages[kind] ?? {};
const headers = (one: EventCase, kind: string) => message(one, kind).headers as Schema;
const field = ({ properties }: Schema, name: string): JsonObject => properties[name] ?? {};
const text = { type: 'string' };

export const eventEdits: readonly Edit<EventCase>[] = [
  ['a channel has another address', 'breaks', (one) => (channelOf(one, 'Send').address = '/another/address')],
  [
    'a channel has another description',
    'passes',
    (one) => (channelOf(one, 'Send').description = 'A channel of two.'),
  ],
  ['an operation is removed', 'breaks', (one) => delete one.operations[operation(one, 'Receive')[0]]],
  ['an operation has another direction', 'breaks', (one) => (operation(one, 'Receive')[1].action = 'send')],
  ['a client event is removed', 'breaks', (one) => removeMessage(one, 'Receive')],
  ['a server event is removed', 'breaks', (one) => removeMessage(one, 'Send')],
  ['a client field is added', 'passes', ({ received }) => (received.properties.more = text)],
  ['a client field becomes required', 'breaks', ({ received }) => received.required.push('kind')],
  ['a client field is removed', 'breaks', ({ received }) => delete received.properties.free],
  ['a client field has another type', 'breaks', ({ received }) => (field(received, 'free').type = 'integer')],
  ['a client maximum is lowered', 'breaks', ({ received }) => (field(received, 'rate').maximum = 50)],
  ['a client maximum is raised', 'passes', ({ received }) => (field(received, 'rate').maximum = 200)],
  ['a client value is removed', 'breaks', ({ received }) => (field(received, 'kind').enum = ['a'])],
  ['a client value is added', 'passes', ({ received }) => (field(received, 'kind').enum = ['a', 'b', 'c'])],
  ['a client default changes', 'breaks', ({ received }) => (field(received, 'rate').default = 30)],
  ['the type of an event is renamed', 'breaks', ({ sent }) => (field(sent, 'type').const = 'other')],
  ['a server field is added', 'passes', ({ sent }) => (sent.properties.more = text)],
  ['a server field is removed', 'breaks', ({ sent }) => delete sent.properties.note],
  ['a server field becomes optional', 'breaks', ({ sent }) => sent.required.pop()],
  ['a server field has another type', 'breaks', ({ sent }) => (field(sent, 'note').type = 'integer')],
  ['a server value is added', 'breaks', ({ sent }) => (field(sent, 'state').enum = ['a', 'b', 'c'])],
  ['a server value is removed', 'passes', ({ sent }) => (field(sent, 'state').enum = ['a'])],

  ['an event is renamed', 'breaks', (one) => (message(one, 'Reply').name = 'other')],
  ['the summary of an event changes', 'passes', (one) => (message(one, 'Reply').summary = 'Another.')],
  [
    'an event has another content type',
    'breaks',
    (one) => (message(one, 'Reply').contentType = 'text/plain'),
  ],
  ['an event header is removed', 'breaks', (one) => delete headers(one, 'Reply').properties.at],
  ['an event header becomes optional', 'breaks', (one) => headers(one, 'Reply').required.pop()],
  ['a client event header becomes required', 'breaks', (one) => headers(one, 'Request').required.push('at')],
  [
    'a client limit in words is added',
    'breaks',
    ({ received }) => (field(received, 'free')['x-limit'] = [{ limit: 'At most 9 words.' }]),
  ],
];

/** Edits that have no meaning in a callback, whose channel has no address. */
export const notInCallback: ReadonlySet<string> = new Set(['a channel has another address']);
