import type { JsonObject } from '../../../openapi/tools/document.ts';
import type { Edit } from './edits.ts';

/** The edited part: a channel on which the gateway receives one event and sends two. */
export interface EventCase {
  channel: { address: string; messages: JsonObject } & JsonObject;
  operations: { [name: string]: { action: string; messages: JsonObject[] } & JsonObject };
  messages: { [name: string]: JsonObject };
  /** Payloads of the client's event and of the gateway's event. */
  received: Schema;
  sent: Schema;
}

interface Schema extends JsonObject {
  required: string[];
  properties: { [name: string]: JsonObject };
}

export function eventCase(name: string): EventCase {
  const own = (message: string) => ({ $ref: `#/channels/${name}/messages/${name}${message}` });
  const channel = { $ref: `#/channels/${name}` };
  const message = (kind: string) =>
    [`${name}${kind}`, { $ref: `#/components/messages/${name}${kind}` }] as const;
  const payload = (kind: string) => ({
    name: `${name}.${kind}`,
    payload: { $ref: `#/components/schemas/${name}${kind}` },
  });
  return {
    channel: {
      address: `/${name}`,
      description: 'A socket.',
      messages: Object.fromEntries([message('Request'), message('Reply'), message('End')]),
    },
    operations: {
      [`${name}Receive`]: { action: 'receive', channel, messages: [own('Request')] },
      [`${name}Send`]: { action: 'send', channel, messages: [own('Reply'), own('End')] },
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

const operation = ({ operations }: EventCase, end: string) => {
  const found = Object.entries(operations).find(([name]) => name.endsWith(end));
  if (found === undefined) throw new Error(`no operation ends in ${end}`);
  return found;
};
const field = ({ properties }: Schema, name: string): JsonObject => properties[name] ?? {};
const text = { type: 'string' };

export const eventEdits: readonly Edit<EventCase>[] = [
  [
    'a channel has another address',
    'breaks',
    ({ channel }) => (channel.address = `${channel.address}/other`),
  ],
  [
    'a channel has another description',
    'passes',
    ({ channel }) => (channel.description = 'A socket of two.'),
  ],
  ['an operation is removed', 'breaks', (one) => delete one.operations[operation(one, 'Receive')[0]]],
  ['an operation has another direction', 'breaks', (one) => (operation(one, 'Receive')[1].action = 'send')],
  ['a client event is removed', 'breaks', (one) => operation(one, 'Receive')[1].messages.pop()],
  ['a server event is removed', 'breaks', (one) => operation(one, 'Send')[1].messages.pop()],
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
];
