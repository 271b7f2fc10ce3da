import type { JsonObject } from '../../../openapi/tools/document.ts';
import type { Edit } from './edits.ts';

/** What is edited: one channel, of which the gateway takes one event and sends two. */
export interface EventCase {
  channel: { address: string; messages: JsonObject } & JsonObject;
  operations: { [name: string]: { action: string; messages: JsonObject[] } & JsonObject };
  messages: { [name: string]: JsonObject };
  /** Of the client's event, and of the gateway's. */
  asked: Schema;
  told: Schema;
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
      messages: Object.fromEntries([message('Ask'), message('Tell'), message('End')]),
    },
    operations: {
      [`${name}Receive`]: { action: 'receive', channel, messages: [own('Ask')] },
      [`${name}Send`]: { action: 'send', channel, messages: [own('Tell'), own('End')] },
    },
    messages: {
      Ask: payload('Ask'),
      Tell: payload('Tell'),
      End: { name: `${name}.end`, payload: { type: 'object' } },
    },
    asked: {
      type: 'object',
      required: ['type'],
      properties: {
        type: { type: 'string', const: 'ask' },
        kind: { type: 'string', enum: ['a', 'b'] },
        rate: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
        free: { type: 'string' },
      },
    },
    told: {
      type: 'object',
      required: ['type', 'id'],
      properties: {
        type: { type: 'string', const: 'tell' },
        id: { type: 'string' },
        note: { type: 'string' },
        state: { type: 'string', enum: ['a', 'b'] },
      },
    },
  };
}

const operation = ({ operations }: EventCase, end: string) => {
  const found = Object.entries(operations).find(([name]) => name.endsWith(end));
  if (found === undefined) throw new Error(`there is no ${end}`);
  return found;
};
const field = ({ properties }: Schema, name: string): JsonObject => properties[name] ?? {};
const text = { type: 'string' };

export const eventEdits: readonly Edit<EventCase>[] = [
  ['a channel has another address', 'breaks', ({ channel }) => (channel.address = `${channel.address}/anew`)],
  ['a channel says more', 'passes', ({ channel }) => (channel.description = 'A socket of two.')],
  ['an operation is gone', 'breaks', (one) => delete one.operations[operation(one, 'Receive')[0]]],
  ['an operation goes the other way', 'breaks', (one) => (operation(one, 'Receive')[1].action = 'send')],
  ['an event is not taken any more', 'breaks', (one) => operation(one, 'Receive')[1].messages.pop()],
  ['an event is not sent any more', 'breaks', (one) => operation(one, 'Send')[1].messages.pop()],
  ['a field that clients send is added', 'passes', ({ asked }) => (asked.properties.more = text)],
  ['clients must send a field', 'breaks', ({ asked }) => asked.required.push('kind')],
  ['a field that clients send is gone', 'breaks', ({ asked }) => delete asked.properties.free],
  ['clients send another type', 'breaks', ({ asked }) => (field(asked, 'free').type = 'integer')],
  ['clients may send less', 'breaks', ({ asked }) => (field(asked, 'rate').maximum = 50)],
  ['clients may send more', 'passes', ({ asked }) => (field(asked, 'rate').maximum = 200)],
  ['a value is not taken any more', 'breaks', ({ asked }) => (field(asked, 'kind').enum = ['a'])],
  ['a value more is taken', 'passes', ({ asked }) => (field(asked, 'kind').enum = ['a', 'b', 'c'])],
  [
    'what clients leave out means something else',
    'breaks',
    ({ asked }) => (field(asked, 'rate').default = 30),
  ],
  ['the type of an event is called otherwise', 'breaks', ({ told }) => (field(told, 'type').const = 'told')],
  ['a field that is sent is added', 'passes', ({ told }) => (told.properties.more = text)],
  ['a field that is sent is gone', 'breaks', ({ told }) => delete told.properties.note],
  ['a field that is sent may be missing', 'breaks', ({ told }) => told.required.pop()],
  ['a field that is sent has another type', 'breaks', ({ told }) => (field(told, 'note').type = 'integer')],
  ['a value more is sent', 'breaks', ({ told }) => (field(told, 'state').enum = ['a', 'b', 'c'])],
  ['a value is sent no more', 'passes', ({ told }) => (field(told, 'state').enum = ['a'])],
];
