import { isObject, type Json, text } from '../../../openapi/tools/document.ts';
import type { Frame } from '../sockets/socket-client.ts';
import { kindOf, nameOf } from '../sockets/socket-messages.ts';
import { valuesAt } from './vocabulary.ts';

/** A session on a socket, as a rule sees it. */
export interface Session {
  /** Text frames of the server in order. */
  events: readonly Frame[];
  /** Text frames of the client in order. */
  sent: readonly Frame[];
  /** Number of bytes in binary frames of the server. */
  audioBytes: number;
}

type SessionRule = (session: Session) => string[];

const at = (frame: Frame, path: string) => valuesAt(frame, path)[0]?.value as Json | undefined;
const named = (events: readonly Frame[], name: string) => events.filter((event) => nameOf(event) === name);

/** Each event of the server has its own id. */
const uniqueEventIds: SessionRule = ({ events }) => {
  const ids = events.map((event) => at(event, 'event_id')).filter((id) => id !== undefined);
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  return repeated === undefined ? [] : [`event id: two events have the event_id ${text(repeated)}`];
};

/** The values of a counter never decrease within the session or the task that `scope` names. */
const cumulative =
  (path: string, scope: string, isStrict: boolean): SessionRule =>
  ({ events }) => {
    const last = new Map<string, number>();
    return events.flatMap((event) => {
      const value = at(event, path);
      if (typeof value !== 'number') return [];
      const key = scope === '' ? '' : text(at(event, scope));
      const previous = last.get(key);
      last.set(key, value);
      const isLess = previous !== undefined && (isStrict ? value <= previous : value < previous);
      return isLess ? [`usage: ${path} is ${value} after ${previous}, which is not cumulative`] : [];
    });
  };

/** Every event of a response has the id of the response that is in progress. */
const idsOfResponse: SessionRule = ({ events }) => {
  let current: Json | undefined;
  return events.flatMap((event) => {
    const name = nameOf(event);
    if (name === 'response.created') current = at(event, 'response.id');
    const id = at(event, 'response_id') ?? at(event, 'response.id');
    return id === undefined || id === current
      ? []
      : [`id: ${name} has the response ${text(id)} instead of ${text(current)}`];
  });
};

/** A completed response contains audio. */
const audioOfResponse: SessionRule = ({ events }) =>
  named(events, 'response.done').flatMap((event) => {
    const id = at(event, 'response.id');
    const hasAudio = named(events, 'response.audio.delta').some(
      (delta) => at(delta, 'response_id') === id && text(delta.delta) !== '',
    );
    return at(event, 'response.status') !== 'completed' || hasAudio
      ? []
      : [`result: the response ${text(id)} is completed without audio`];
  });

/** Every event of a task has the id of a task that the client started. */
const idsOfTask: SessionRule = ({ events, sent }) => {
  const ids = sent.map((frame) => at(frame, 'header.task_id'));
  return events.flatMap((event) => {
    const id = at(event, 'header.task_id');
    return ids.includes(id) ? [] : [`id: ${kindOf(event)} has the foreign task_id ${text(id)}`];
  });
};

/** A finished task with text has audio. */
const audioOfTask: SessionRule = ({ events, sent, audioBytes }) =>
  named(events, 'task-finished').length > 0 &&
  sent.some((frame) => (at(frame, 'payload.input.text') ?? '') !== '') &&
  audioBytes === 0
    ? ['result: the task is finished without audio']
    : [];

/** The confirmed session has the values that the client set. */
const confirmedSession: SessionRule = ({ events, sent }) => {
  const wanted: Record<string, unknown> = {};
  const [update] = named(sent, 'session.update').slice(-1);
  if (update !== undefined && isObject(update.session)) Object.assign(wanted, update.session);
  const [updated] = named(events, 'session.updated').slice(-1);
  if (updated === undefined) return [];
  return Object.entries(wanted).flatMap(([field, value]) => {
    const actual = at(updated, `session.${field}`);
    return actual === undefined || actual === value
      ? []
      : [`session.updated confirms ${field} ${JSON.stringify(actual)} instead of ${JSON.stringify(value)}`];
  });
};

/** Rules about the meaning of a session, by channel. */
const rules: Readonly<Record<string, readonly SessionRule[]>> = {
  realtime: [
    uniqueEventIds,
    cumulative('response.usage.characters', '', true),
    idsOfResponse,
    audioOfResponse,
    confirmedSession,
  ],
  inference: [idsOfTask, cumulative('payload.usage.characters', 'header.task_id', false), audioOfTask],
};

/** Checks the meaning of a session. Returns the violations. */
export const sessionProblems = (channel: string, session: Session): string[] =>
  (rules[channel] ?? rules.realtime ?? []).flatMap((rule) => rule(session));
