import { deref, isObject, type JsonObject, objects, refName, text } from '../../../openapi/tools/document.ts';
import { eventBundle, eventProblems } from '../contract/schemas.ts';

export interface StreamedEvent {
  id: string | undefined;
  event: string;
  /** Number of the comment line `:HTTP_STATUS/<n>`; only on native streams. */
  status: number | undefined;
  data: unknown;
}

/** Native events in their exact line layout. */
const nativeBlock =
  /^id:(?<id>\d+)\nevent:(?<event>\w+)\n:HTTP_STATUS\/(?<status>\d{3})\ndata:(?<data>[^ \n][^\n]*)\n$/;
/** Events of the messages protocol: name and data, with a blank after each colon. */
const namedBlock = /^event: (?<event>\w+)\ndata: (?<data>[^\n]+)\n$/;

/** @throws Error when a line is out of place or data is no JSON. */
export function parseEvents(body: string, layout: 'native' | 'named'): StreamedEvent[] {
  // Without the empty line a reader never sees the last event.
  if (!body.endsWith('\n\n')) throw new Error('the last event has no empty line after it');
  const blocks = body.split(/(?<=\n)\n/).filter((block) => block !== '');
  return blocks.map((block) => {
    const found = (layout === 'native' ? nativeBlock : namedBlock).exec(block)?.groups;
    if (found === undefined) throw new Error(`not a ${layout} event: ${JSON.stringify(block.slice(0, 200))}`);
    const { id, event = '', status, data = '' } = found;
    return { id, event, status: status === undefined ? undefined : Number(status), data: JSON.parse(data) };
  });
}

/** What is wrong with an event stream by the AsyncAPI document; empty when nothing is. */
export function streamProblems(path: string, body: string): string[] {
  const messages = messagesOf(path);
  const layout = messages.some(({ headers }) => headers !== undefined) ? 'native' : 'named';
  let events: StreamedEvent[];
  try {
    events = parseEvents(body, layout);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
  if (events.length === 0) return ['the stream has no event'];
  const counted = events.flatMap(({ id }, index) =>
    layout === 'named' || id === String(index + 1) ? [] : [`event ${index + 1} has id ${id}`],
  );
  const last = events.at(-1);
  const ends = last === undefined ? [] : fitting(last, messages).filter((name) => endings.has(name));
  return [
    ...counted,
    ...(ends.length > 0 ? [] : ['the last event does not end the stream']),
    ...events.flatMap((event, index) =>
      problemsOf(event, messages).map((one) => `event ${index + 1}: ${one}`),
    ),
  ];
}

/** The messages of the components that the events of a stream are; of one that is none, nothing. */
export function streamedMessages(path: string, body: string): { channel: string; messages: string[] } {
  const messages = messagesOf(path);
  const layout = messages.some(({ headers }) => headers !== undefined) ? 'native' : 'named';
  const found = parseEvents(body, layout).flatMap((event) => fitting(event, messages));
  return { channel: channelOf(path)[0], messages: [...new Set(found)] };
}

/** With one of these a stream ends, well or badly. */
const endings: ReadonlySet<string> = new Set([
  'NativeSpeechEnd',
  'BetaSpeechEnd',
  'BetaSpeechRejected',
  'NativeError',
  'MessageStopEvent',
  'MessageErrorEvent',
]);

const fitting = ({ event, data }: StreamedEvent, messages: readonly Message[]): string[] =>
  messages
    .filter(({ name, payload }) => name === event && eventProblems(payload, data).length === 0)
    .map(({ key }) => key);

interface Message {
  /** Its name among the components. */
  key: string;
  name: string;
  payload: string;
  headers: string | undefined;
}

/** The channel of a path, with its name. */
function channelOf(path: string): [string, JsonObject] {
  const channel = objects(eventBundle.channels).find(([, { address }]) => {
    const pattern = text(address).replace(/\{[^}]+\}/g, '.+');
    return pattern !== '' && new RegExp(`^${pattern}$`).test(path);
  });
  if (channel === undefined) throw new Error(`the AsyncAPI document has no channel for ${path}`);
  return channel;
}

/** The messages that the channel of a path sends. */
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

/** An event must be one of the messages; of those with its name, the nearest tells what is wrong. */
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
