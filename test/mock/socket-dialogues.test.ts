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

/** What the mock must be told to go wrong like the dialogue. */
const scripts: Record<string, string> = { 'realtime-provider-failure.yaml': 'error' };
/** How long a client is silent before the server closes with this reason, in milliseconds. */
const silences: Record<string, number> = { timeout: 23_000, idle: 60_000 };

// Confirmations take their few milliseconds; the long silences pass when told.
const manual = new ManualTimers();
let mock: Awaited<ReturnType<typeof serveSockets>>;
beforeAll(async () => {
  const alarm: ManualTimers['alarm'] = (ms, ring) => (ms < 1000 ? systemTimers : manual).alarm(ms, ring);
  mock = await serveSockets({ ...systemTimers, alarm });
});
afterAll(() => mock.close());

const part = (frame: Frame, name: string) => (frame[name] ?? {}) as Frame;
const output = (frame: Frame) => part(part(frame, 'payload'), 'output');
const taskOf = (frame: Frame) => part(frame, 'header').task_id;
/** The name of the event's message in the document. */
const nameOf = (frame: Frame) => String(frame.type ?? part(frame, 'header').event);
/** The same, told apart by the step of a sentence. */
const kindOf = (frame: Frame) => {
  const { type } = output(frame);
  return typeof type === 'string' ? type : nameOf(frame);
};

const { channels, components } = eventBundle as unknown as {
  channels: Record<string, { messages: Record<string, unknown> }>;
  components: { messages: Record<string, { name: string }> };
};

/** What is wrong with a server event by the document's own schema of it. */
function problems(channel: string, event: Frame): string[] {
  const messages = Object.keys(channels[channel]?.messages ?? {});
  const found = messages.find((message) => components.messages[message]?.name === nameOf(event));
  return found === undefined ? [`${nameOf(event)} is unknown`] : eventProblems(found, event);
}

/** What an event says beside ids, words and audio. */
function facts(event: Frame): unknown {
  const { id: _id, ...session } = part(event, 'session');
  const { message: _message, ...error } = part(event, 'error');
  const { voice, status, usage } = part(event, 'response');
  return {
    kind: kindOf(event),
    // The voice before one is set is the provider's choice.
    session: event.type === 'session.created' ? { ...session, voice: undefined } : session,
    error,
    response: { voice, status, characters: ((usage ?? {}) as Frame).characters },
    task: taskOf(event),
    code: part(event, 'header').error_code,
    text: output(event).original_text,
    usage: part(event, 'payload').usage,
  };
}

/** The kinds in a row, pieces of audio counted once. */
const row = (kinds: string[]) =>
  `${kinds.join(' ')} `
    .replaceAll(/(response\.audio\.delta )+/g, '$1')
    .replaceAll(/(sentence-synthesis audio )+/g, '$1');

test('there are dialogues of all three sockets', () => {
  expect(new Set(dialogues.map(({ channel }) => channel)).size).toBe(3);
});

test.each(dialogues)('plays $file', async ({ file, channel, query, steps, close }) => {
  const script = scripts[file];
  const asked = new URLSearchParams({ ...query, ...(script === undefined ? {} : { mock_script: script }) });
  const client = await connect(`${mock.url}${addressOf(channel)}?${asked.toString()}`, { key: 'sk-any' });
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
    if (kindOf(event) === 'task-failed') manual.advance(silences[close.reason ?? ''] ?? 0);
    const same = (frame: Frame) => kindOf(frame) === kindOf(event) && taskOf(frame) === taskOf(event);
    const got = await client.next(same);
    expect(facts(got)).toEqual(facts(event));
  }
  if (close.from === 'client') client.socket.close(close.code);
  else if (close.reason === 'idle') manual.advance(silences.idle ?? 0);
  const { code, reason } = await client.closed;
  expect({ code, reason }).toEqual({ code: close.code, reason: close.reason ?? '' });

  expect(client.events.flatMap((event) => problems(channel, event))).toEqual([]);
  const told = steps
    .filter(({ from }) => from === 'server')
    .map(({ event }) => (event === undefined ? 'audio' : kindOf(event)));
  const heard = order.map((frame) => (frame === 'audio' ? frame : kindOf(frame)));
  // The failing dialogue leaves out what comes between.
  const compared = script === undefined ? heard : heard.filter((kind) => told.includes(kind));
  expect(row(compared)).toBe(row(told));
});
