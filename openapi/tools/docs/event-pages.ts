import { deref, isObject, type Json, type JsonObject, objects, text } from '../document.ts';
import { cell, prose } from './markdown-text.ts';
import { fieldsTable } from './schema-table.ts';

/** A channel, with the addresses under which it has the same events. */
interface Channel {
  key: string;
  node: JsonObject;
  addresses: string[];
}

/** Returns a page for each channel of the AsyncAPI document, by path, with a heading for each event, and an index. */
export function eventPages(asyncapi: JsonObject): Map<string, string> {
  const channels = channelsOf(asyncapi);
  const rows = channels.map(
    ({ key, node }) => `| [${prose(text(node.title))}](/docs/events/${key}) | ${cell(text(node.summary))} |`,
  );
  const index = `# Events\n\nThe events of sockets, streams and callbacks, by channel.\n\n| channel | events |\n|---|---|\n${rows.join('\n')}\n`;
  return new Map([
    ['docs/events/index', index],
    ...channels.map(({ key, node, addresses }) => {
      const { title, summary, description } = node;
      const shown = addresses.map((address) => `\`${address}\``).join(' or ');
      const parts = [
        `# ${prose(text(title))}`,
        `${prose(text(summary))}${shown === '' ? '' : ` Address: ${shown}.`}`,
        prose(text(description)),
        ...eventSections(asyncapi, key, node),
      ];
      return [`docs/events/${key}`, `${parts.filter((part) => part !== '').join('\n\n')}\n`] as const;
    }),
  ]);
}

/** Returns the channels. A channel with the events of an earlier one is another address of it. */
function channelsOf(asyncapi: JsonObject): Channel[] {
  const byEvents = new Map<string, Channel>();
  for (const [key, node] of objects(asyncapi.channels)) {
    const events = JSON.stringify(node.messages);
    const address = typeof node.address === 'string' ? [node.address] : [];
    const same = byEvents.get(events);
    if (same === undefined || address.length === 0)
      byEvents.set(same === undefined ? events : key, { key, node, addresses: address });
    else same.addresses.push(...address);
  }
  return [...byEvents.values()];
}

function eventSections(asyncapi: JsonObject, channel: string, { messages }: JsonObject): string[] {
  const events = objects(messages).map(([key, node]) => ({ key, message: deref(asyncapi, node) }));
  const names = events.map(({ message }) => message.name);
  return events.map(({ key, message }) => {
    const name = text(message.name);
    const isUnique = names.indexOf(name) === names.lastIndexOf(name);
    const parts = [
      `## \`${name}\`${isUnique ? '' : ` (${key})`} {#${key}}`,
      `${prose(text(message.summary))} ${senderOf(asyncapi, channel, key)}`.trim(),
      prose(text(message.description)),
      fieldsTable(asyncapi, message.payload),
    ];
    return parts.filter((part) => part !== '').join('\n\n');
  });
}

/** States who sends an event, as seen by the client. An operation without messages has all of its channel. */
function senderOf(asyncapi: JsonObject, channel: string, key: string): string {
  const operation = objects(asyncapi.operations).find(([, { channel: target, messages }]) => {
    if (pointerOf(target) !== `#/channels/${channel}`) return false;
    return (
      !Array.isArray(messages) ||
      messages.some((message) => pointerOf(message) === `#/channels/${channel}/messages/${key}`)
    );
  });
  if (operation === undefined) return '';
  return operation[1].action === 'receive' ? 'Sent by the client.' : 'Sent by the gateway.';
}

const pointerOf = (node: Json | undefined) => (isObject(node) ? text(node.$ref) : '');
