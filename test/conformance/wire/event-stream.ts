import { deref, isObject, type JsonObject, objects, refName, text } from '../../../openapi/tools/document.ts';
import { eventBundle, eventProblems } from '../contract/schemas.ts';
import { streamInvariantProblems } from '../invariants/streams.ts';
import type { StreamedEvent } from './streamed-event.ts';

/** The exact line layout of native events. */
const nativeBlock =
  /^id:(?<id>\d+)\nevent:(?<event>\w+)\n:HTTP_STATUS\/(?<status>\d{3})\ndata:(?<data>[^ \n][^\n]*)\n$/;
/** The line layout of the messages protocol: name and data, with a space after each colon. */
const namedBlock = /^event: (?<event>\w+)\ndata: (?<data>[^\n]+)\n$/;

/** @throws Error when a line violates the layout or `data` is not JSON */
export function parseEvents(body: string, layout: 'native' | 'named'): StreamedEvent[] {
  // Clients dispatch an event only after an empty line.
  if (!body.endsWith('\n\n')) throw new Error('an empty line is missing after the last event');
  const blocks = body.split(/(?<=\n)\n/).filter((block) => block !== '');
  return blocks.map((block) => {
    const found = (layout === 'native' ? nativeBlock : namedBlock).exec(block)?.groups;
    if (found === undefined) throw new Error(`not a ${layout} event: ${JSON.stringify(block.slice(0, 200))}`);
    const { id, event = '', status, data = '' } = found;
    return { id, event, status: status === undefined ? undefined : Number(status), data: JSON.parse(data) };
  });
}

/** Checks an event stream against the AsyncAPI document. Returns the problems. */
export function streamProblems(path: string, body: string): string[] {
  const messages = messagesOf(path);
  const layout = messages.some(({ headers }) => headers !== undefined) ? 'native' : 'named';
  let events: StreamedEvent[];
  try {
    events = parseEvents(body, layout);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
  if (events.length === 0) return ['the stream has no events'];
  const idProblems = events.flatMap(({ id }, index) =>
    layout === 'named' || id === String(index + 1) ? [] : [`event ${index + 1} has id ${id}`],
  );
  const last = events.at(-1);
  const ends =
    last === undefined ? [] : matchingMessages(last, messages).filter((name) => finalMessages.has(name));
  return [
    ...idProblems,
    ...streamInvariantProblems(channelOf(path)[0], events),
    ...(ends.length > 0 ? [] : ['the last event does not end the stream']),
    ...events.flatMap((event, index) =>
      problemsOf(event, messages).map((one) => `event ${index + 1}: ${one}`),
    ),
  ];
}

/** Returns the messages of the components that the events of a stream match. */
export function streamedMessages(path: string, body: string): { channel: string; messages: string[] } {
  const messages = messagesOf(path);
  const layout = messages.some(({ headers }) => headers !== undefined) ? 'native' : 'named';
  const found = parseEvents(body, layout).flatMap((event) => matchingMessages(event, messages));
  return { channel: channelOf(path)[0], messages: [...new Set(found)] };
}

/** Messages that end a stream. */
const finalMessages: ReadonlySet<string> = new Set([
  'NativeSpeechEnd',
  'BetaSpeechEnd',
  'BetaSpeechRejected',
  'NativeError',
  'MessageStopEvent',
  'MessageErrorEvent',
  'RunFinished',
  'RunFailed',
]);

const matchingMessages = ({ event, data }: StreamedEvent, messages: readonly Message[]): string[] =>
  messages
    .filter(({ name, payload }) => name === event && eventProblems(payload, data).length === 0)
    .map(({ key }) => key);

interface Message {
  /** Name in the components. */
  key: string;
  name: string;
  payload: string;
  headers: string | undefined;
}

/** Returns the channel of a path and its name. */
function channelOf(path: string): [string, JsonObject] {
  const channel = objects(eventBundle.channels).find(([, { address }]) => {
    const pattern = text(address).replace(/\{[^}]+\}/g, '.+');
    return pattern !== '' && new RegExp(`^${pattern}$`).test(path);
  });
  if (channel === undefined) throw new Error(`the AsyncAPI document has no channel for ${path}`);
  return channel;
}

/** Returns the messages of the channel of a path. */
function messagesOf(path: string): Message[] {
  return objects(channelOf(path)[1].messages).map(([, reference]) => {
    const message = deref(eventBundle, reference);
    return {
      key: refName(message.$at ?? ''),
      name: text(message.name),
      payload: component(message.payload),
      headers: optional(message.headers),
    };
  });
}

const component = (node: JsonObject[string] | undefined) =>
  refName(text(isObject(node) ? node.$ref : undefined));
const optional = (node: JsonObject[string] | undefined) => (node === undefined ? undefined : component(node));

/** Returns the violations of the message with this name that matches best. */
function problemsOf({ id, event, data }: StreamedEvent, messages: Message[]): string[] {
  const attempts = messages
    .filter(({ name }) => name === event)
    .map(({ payload, headers }) => [
      ...eventProblems(payload, data).map((problem) => `as ${payload}: ${problem}`),
      ...(headers === undefined ? [] : eventProblems(headers, { id, event })),
    ]);
  if (attempts.length === 0) return [`no message is named ${event}`];
  return attempts.reduce((best, one) => (one.length < best.length ? one : best));
}
