import { deref, isObject, type JsonObject, objects, refName, text } from '../../../openapi/tools/document.ts';
import { eventBundle, eventProblems } from '../contract/schemas.ts';
import type { Frame } from './socket-client.ts';

/** A message of a channel. */
interface ChannelMessage {
  /** Name in the components of the document. */
  key: string;
  /** Name in the frames. */
  name: string;
  payload: string;
  binary: boolean;
}

/** Returns the channel with this address. */
export function channelAt(path: string): string {
  const found = objects(eventBundle.channels).find(([, { address }]) => address === path);
  if (found === undefined) throw new Error(`the AsyncAPI document has no channel at ${path}`);
  return found[0];
}

/** Returns the messages that the server sends or receives on a channel. */
export function messagesFrom(channel: string, action: 'send' | 'receive'): ChannelMessage[] {
  return objects(eventBundle.operations)
    .filter(([, one]) => one.action === action && refName((one.channel as { $ref: string }).$ref) === channel)
    .flatMap(([, { messages, channel: reference }]) =>
      // An operation without a list of messages has all messages of its channel.
      Array.isArray(messages)
        ? messages
        : Object.values(deref(eventBundle, reference).messages as JsonObject),
    )
    .map((message) => {
      const { $at = '', name, payload, contentType } = deref(eventBundle, message);
      return {
        key: refName($at),
        name: text(name),
        payload: refName(text(isObject(payload) ? payload.$ref : undefined)),
        binary: contentType === 'application/octet-stream',
      };
    });
}

const part = (frame: Frame, name: string): JsonObject => {
  const value = frame[name];
  return isObject(value) ? value : {};
};

/** Returns the message name of a frame, in either protocol. */
export const nameOf = (frame: Frame): string =>
  text(frame.type) || text(part(frame, 'header').event) || text(part(frame, 'header').action);

/** Returns the message name, or the output type of a sentence event. */
export const kindOf = (frame: Frame): string =>
  text(part(part(frame, 'payload'), 'output').type) || nameOf(frame);

/** Returns the code of an error event. */
export const errorCodeOf = (frame: Frame): string | undefined =>
  text(part(frame, 'error').code) || text(part(frame, 'header').error_code) || undefined;

/** Matches a frame with the messages of the components. Returns the problems if no message matches. */
export function matchMessages(channel: string, frame: Frame): { keys: string[]; problems: string[] } {
  const named = messagesFrom(channel, 'send').filter(({ name, binary }) => !binary && name === nameOf(frame));
  if (named.length === 0)
    return { keys: [], problems: [`no message is named ${nameOf(frame) || JSON.stringify(frame)}`] };
  const attempts = named.map(({ key, payload }) => ({ key, problems: eventProblems(payload, frame) }));
  const fitting = attempts.filter(({ problems }) => problems.length === 0).map(({ key }) => key);
  if (fitting.length > 0) return { keys: fitting, problems: [] };
  const [closest] = attempts.toSorted((left, right) => left.problems.length - right.problems.length);
  return { keys: [], problems: (closest?.problems ?? []).map((one) => `${nameOf(frame)}: ${one}`) };
}
