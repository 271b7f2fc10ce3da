import { deref, isObject, type JsonObject, objects, refName, text } from '../../../openapi/tools/document.ts';
import { eventBundle, eventProblems } from '../contract/schemas.ts';
import type { Frame } from './socket-client.ts';

/** A message that a server may send on a channel. */
interface ServerMessage {
  /** Its name in the document's components. */
  key: string;
  /** What its frames say that they are. */
  name: string;
  payload: string;
  binary: boolean;
}

/** The channel whose address is the path of an operation. */
export function channelAt(path: string): string {
  const found = objects(eventBundle.channels).find(([, { address }]) => address === path);
  if (found === undefined) throw new Error(`the AsyncAPI document has no channel at ${path}`);
  return found[0];
}

/** The messages that one side sends on a channel. */
export function messagesFrom(channel: string, action: 'send' | 'receive'): ServerMessage[] {
  return objects(eventBundle.operations)
    .filter(([, one]) => one.action === action && refName((one.channel as { $ref: string }).$ref) === channel)
    .flatMap(([, { messages, channel: reference }]) =>
      // Without a list of its own an operation has all messages of its channel.
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

/** What a frame of either protocol says that it is. */
export const nameOf = (frame: Frame): string =>
  text(frame.type) || text(part(frame, 'header').event) || text(part(frame, 'header').action);

/** The same, told apart by the step of a sentence. */
export const kindOf = (frame: Frame): string =>
  text(part(part(frame, 'payload'), 'output').type) || nameOf(frame);

/** The code of an event that tells an error. */
export const errorCodeOf = (frame: Frame): string | undefined =>
  text(part(frame, 'error').code) || text(part(frame, 'header').error_code) || undefined;

/** The messages of the components that a frame is one of, and what is wrong when it is none. */
export function recognized(channel: string, frame: Frame): { keys: string[]; problems: string[] } {
  const named = messagesFrom(channel, 'send').filter(({ name, binary }) => !binary && name === nameOf(frame));
  if (named.length === 0)
    return { keys: [], problems: [`no message is named ${nameOf(frame) || JSON.stringify(frame)}`] };
  const attempts = named.map(({ key, payload }) => ({ key, problems: eventProblems(payload, frame) }));
  const fitting = attempts.filter(({ problems }) => problems.length === 0).map(({ key }) => key);
  if (fitting.length > 0) return { keys: fitting, problems: [] };
  const [nearest] = attempts.toSorted((left, right) => left.problems.length - right.problems.length);
  return { keys: [], problems: (nearest?.problems ?? []).map((one) => `${nameOf(frame)}: ${one}`) };
}
