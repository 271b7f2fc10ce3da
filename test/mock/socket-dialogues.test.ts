import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { systemTimers } from '../../server/lib/timers.ts';
import { eventBundle, eventProblems } from '../conformance/contract/schemas.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import { connect } from '../support/socket-client.ts';
import type { Frame } from '../support/socket-upstream.ts';
import { addressOf } from './sockets/examples.ts';
import { serveSockets } from './sockets/serve-sockets.ts';

interface Step {
  from: 'client' | 'server';
  event?: Frame;
  binary?: string;
}

interface Dialogue {
  file: string;
  channel: string;
  query: Record<string, string>;
  steps: Step[];
  close: { from: 'client' | 'server'; code: number; reason?: string };
}

const folder = new URL('../../asyncapi/examples/', import.meta.url);
const dialogues = readdirSync(folder)
  .map((file) => ({
    file,
    ...(parse(readFileSync(new URL(file, folder), 'utf8')) as Omit<Dialogue, 'file'>),
  }))
  .filter(({ channel }) => ['realtime', 'realtimeAlias', 'inference'].includes(channel));

/** Faults that reproduce a failing dialogue. */
const scripts: Record<string, string> = { 'realtime-provider-failure.yaml': 'error' };
/** Silence of the client before the server closes with this reason, in milliseconds. */
const silenceMs: Record<string, number> = { timeout: 23_000, idle: 60_000 };

// Short confirmations use real timers, long silences use manual ones.
const manual = new ManualTimers();
let mock: Awaited<ReturnType<typeof serveSockets>>;
beforeAll(async () => {
  const alarm: ManualTimers['alarm'] = (ms, ring) => (ms < 1000 ? systemTimers : manual).alarm(ms, ring);
  mock = await serveSockets({ ...systemTimers, alarm });
});
afterAll(() => mock.close());

const fieldOf = (frame: Frame, name: string) => (frame[name] ?? {}) as Frame;
const output = (frame: Frame) => fieldOf(fieldOf(frame, 'payload'), 'output');
const taskOf = (frame: Frame) => fieldOf(frame, 'header').task_id;
/** Returns the name of the message of an event. */
const nameOf = (frame: Frame) => String(frame.type ?? fieldOf(frame, 'header').event);
/** Returns the name, or the step of a sentence. */
const kindOf = (frame: Frame) => {
  const { type } = output(frame);
  return typeof type === 'string' ? type : nameOf(frame);
};

const { channels, components } = eventBundle as unknown as {
  channels: Record<string, { messages: Record<string, unknown> }>;
  components: { messages: Record<string, { name: string }> };
};

/** Validates a server event against the schema of its message. */
function problems(channel: string, event: Frame): string[] {
  const messages = Object.keys(channels[channel]?.messages ?? {});
  const found = messages.find((message) => components.messages[message]?.name === nameOf(event));
  return found === undefined ? [`${nameOf(event)} is unknown`] : eventProblems(found, event);
}

/** Returns the content of an event without ids, texts and audio. */
function facts(event: Frame): unknown {
  const { id: _id, ...session } = fieldOf(event, 'session');
  const { message: _message, ...error } = fieldOf(event, 'error');
  const { voice, status, usage } = fieldOf(event, 'response');
  return {
    kind: kindOf(event),
    // The provider selects the initial voice.
    session: event.type === 'session.created' ? { ...session, voice: undefined } : session,
    error,
    response: { voice, status, characters: ((usage ?? {}) as Frame).characters },
    task: taskOf(event),
    code: fieldOf(event, 'header').error_code,
    text: output(event).original_text,
    usage: fieldOf(event, 'payload').usage,
  };
}

/** Joins kinds of events. Consecutive audio chunks count once. */
const joinKinds = (kinds: string[]) =>
  `${kinds.join(' ')} `
    .replaceAll(/(response\.audio\.delta )+/g, '$1')
    .replaceAll(/(sentence-synthesis audio )+/g, '$1');

test('dialogues exist for all three sockets', () => {
  expect(new Set(dialogues.map(({ channel }) => channel)).size).toBe(3);
});

test.each(dialogues)('$file', async ({ file, channel, query, steps, close }) => {
  const fault = scripts[file];
  const parameters = new URLSearchParams({
    ...query,
    ...(fault === undefined ? {} : { mock_script: fault }),
  });
  const client = await connect(`${mock.url}${addressOf(channel)}?${parameters.toString()}`, {
    key: 'sk-any',
  });
  const order: (Frame | 'audio')[] = [...client.events];
  client.socket.on('message', (data, binary) => {
    order.push(binary ? 'audio' : (JSON.parse((data as Buffer).toString('utf8')) as Frame));
  });
  for (const step of steps) {
    const { event } = step;
    if (event === undefined) continue;
    if (step.from === 'client') {
      client.send(event);
      continue;
    }
    if (kindOf(event) === 'task-failed') manual.advance(silenceMs[close.reason ?? ''] ?? 0);
    const isSame = (frame: Frame) => kindOf(frame) === kindOf(event) && taskOf(frame) === taskOf(event);
    const got = await client.next(isSame);
    expect(facts(got)).toEqual(facts(event));
  }
  if (close.from === 'client') client.socket.close(close.code);
  else if (close.reason === 'idle') manual.advance(silenceMs.idle ?? 0);
  const { code, reason } = await client.closed;
  expect({ code, reason }).toEqual({ code: close.code, reason: close.reason ?? '' });

  expect(client.events.flatMap((event) => problems(channel, event))).toEqual([]);
  const expectedKinds = steps
    .filter(({ from }) => from === 'server')
    .map(({ event }) => (event === undefined ? 'audio' : kindOf(event)));
  const receivedKinds = order.map((frame) => (frame === 'audio' ? frame : kindOf(frame)));
  // The failing dialogue omits some events.
  const compared =
    fault === undefined ? receivedKinds : receivedKinds.filter((kind) => expectedKinds.includes(kind));
  expect(joinKinds(compared)).toBe(joinKinds(expectedKinds));
});
