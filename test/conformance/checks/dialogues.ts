import type { RunContext } from '../context/run-context.ts';
import { Unavailable } from '../context/unavailable.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import { sessionProblems } from '../invariants/sockets.ts';
import type { CheckOutcome } from '../scenarios/scenario.ts';
import { type Dialogue, dialoguesOf } from '../sockets/dialogues.ts';
import { connect, type Frame, type SocketClient } from '../sockets/socket-client.ts';
import {
  channelAt,
  errorCodeOf,
  kindOf,
  matchMessages,
  messagesFrom,
  nameOf,
} from '../sockets/socket-messages.ts';

/** Dialogues with a provider failure, and the trigger that causes it. */
const triggers: Readonly<Record<string, string>> = { 'realtime-provider-failure': '[[drop]] ' };
/** Dialogues in which the client stays silent, and the server's idle timeout in milliseconds. */
const idleTimeouts: Readonly<Record<string, number>> = { 'inference-timeout': 23_000 };
/** Tolerance for clock differences, in milliseconds. */
const toleranceMs = 500;

/** One check for each documented dialogue of a socket, except those with a silent client. */
export const dialogueChecks = (operation: DocumentedOperation, context: RunContext) =>
  checksOf(operation, context, ({ name }) => idleTimeouts[name] === undefined);

/** One check for each dialogue with a silent client. */
export const silentDialogueChecks = (operation: DocumentedOperation, context: RunContext) =>
  checksOf(operation, context, ({ name }) => idleTimeouts[name] !== undefined);

function checksOf(
  operation: DocumentedOperation,
  context: RunContext,
  isWanted: (dialogue: Dialogue) => boolean,
): { name: string; run: () => Promise<CheckOutcome> }[] {
  if (!operation.responses.some(({ status }) => status === 101)) return [];
  const channel = channelAt(operation.path);
  const dialogues = [...dialoguesOf(channel), ...additionalDialogues(channel)].filter(isWanted);
  return dialogues.map((dialogue) => ({
    name: `the dialogue ${dialogue.name}`,
    run: () => checkDialogue(operation, channel, dialogue, context),
  }));
}

/** Events that no documented dialogue contains. */
function additionalDialogues(channel: string): Dialogue[] {
  if (channel === 'inference') return [];
  const session = { voice: 'Aria', mode: 'commit', response_format: 'pcm', sample_rate: 24000 };
  const client = (event: Frame) => ({ from: 'client' as const, event });
  const server = (type: string) => ({ from: 'server' as const, event: { type } });
  return [
    {
      name: 'a canceled response and a finished session',
      summary: '',
      channel,
      query: { model: 'alpha3-tts-flash-realtime' },
      steps: [
        server('session.created'),
        client({ event_id: 'event_1', type: 'session.update', session }),
        server('session.updated'),
        client({ event_id: 'event_2', type: 'input_text_buffer.append', text: 'Drop this.' }),
        client({ event_id: 'event_3', type: 'input_text_buffer.clear' }),
        server('input_text_buffer.cleared'),
        client({ event_id: 'event_0', type: 'input_text_buffer.commit' }),
        server('error'),
        client({ event_id: 'event_8', type: 'of.no.kind' }),
        server('error'),
        client({
          event_id: 'event_4',
          type: 'input_text_buffer.append',
          text: 'One. Two. Three. Four. Five. Six. Seven.',
        }),
        client({ event_id: 'event_5', type: 'input_text_buffer.commit' }),
        server('response.created'),
        client({ event_id: 'event_6', type: 'response.cancel' }),
        server('response.done'),
        client({ event_id: 'event_7', type: 'session.finish' }),
        server('session.finished'),
      ],
    },
  ];
}

async function checkDialogue(
  { path }: DocumentedOperation,
  channel: string,
  dialogue: Dialogue,
  { target, timeoutMs: responseTimeoutMs, coverage, triggers: acceptsTriggers }: RunContext,
): Promise<CheckOutcome> {
  const silenceMs = idleTimeouts[dialogue.name] ?? 0;
  const timeoutMs = responseTimeoutMs + silenceMs;
  const trigger = triggers[dialogue.name];
  if (trigger !== undefined && !acceptsTriggers)
    throw new Unavailable('only a trigger causes the provider failure');
  const address = `${target.url}${path}?${new URLSearchParams(dialogue.query).toString()}`;
  const curl = `# ${dialogue.name} on ${address}`;
  const client = await connect(address, { key: target.key, timeoutMs });
  const problems = await play(client, dialogue, trigger ?? '', timeoutMs, silenceMs).catch(
    (error: unknown) => [
      error instanceof Error ? error.message : String(error),
      ...orderOf(dialogue.steps, client.events.map(kindOf)),
    ],
  );
  client.socket.terminate();
  for (const { event } of dialogue.steps) {
    const sent = messagesFrom(channel, 'receive').find(
      ({ name }) => event !== undefined && name === nameOf(event),
    );
    if (sent !== undefined) coverage.events.add(`${channel} client ${sent.key}`);
  }
  for (const frame of client.events) {
    const { keys, problems: mismatches } = matchMessages(channel, frame);
    for (const key of keys) coverage.events.add(`${channel} server ${key}`);
    coverage.recordError(channel === 'inference' ? 'inference' : 'realtime', errorCodeOf(frame));
    problems.push(...mismatches);
  }
  const [binary] = messagesFrom(channel, 'send').filter((message) => message.binary);
  if (client.audio.length > 0) {
    if (binary === undefined) problems.push('a binary frame is not documented');
    else coverage.events.add(`${channel} server ${binary.key}`);
  }
  const sent = dialogue.steps.flatMap(({ from, event }) => (from === 'client' && event ? [event] : []));
  const audioBytes = client.audio.reduce((sum, { length }) => sum + length, 0);
  problems.push(...sessionProblems(channel, { events: client.events, sent, audioBytes }));
  problems.push(...client.invalidFrames.map((text) => `a text frame is not JSON: ${text}`));
  return { problems, curl };
}

/** Sends the client's events, each after the server event that precedes it. */
async function play(
  client: SocketClient,
  { steps, close }: Dialogue,
  trigger: string,
  timeoutMs: number,
  silenceMs: number,
): Promise<string[]> {
  let awaited: string | undefined;
  let lastSentAt = 0;
  const waitForServer = async () => {
    const kind = awaited;
    awaited = undefined;
    if (kind !== undefined) await client.next((frame) => kindOf(frame) === kind);
  };
  for (const { from, event } of steps) {
    if (event === undefined) continue;
    if (from === 'server') awaited = kindOf(event);
    else {
      await waitForServer();
      client.send(withTrigger(event, trigger));
      lastSentAt = performance.now();
    }
  }
  await waitForServer();
  const problems = missing(client, steps);
  const waitedMs = performance.now() - lastSentAt;
  if (waitedMs < silenceMs - toleranceMs)
    problems.push(
      `the server ends the task after ${waitedMs / 1000} s of silence instead of ${silenceMs / 1000} s`,
    );
  // A failed dialogue may close in any way. The kit does not wait for the idle timeout of the session.
  if (problems.length > 0 || close?.from !== 'server' || close.reason === 'idle') return problems;
  const timeout = new Promise<{ code?: number }>((resolve) => {
    setTimeout(() => resolve({}), timeoutMs).unref();
  });
  const closed = await Promise.race([client.closed, timeout]);
  if (closed.code === close.code) return [];
  return [`the server closes with ${closed.code ?? 'nothing'} instead of ${close.code}`];
}

const withTrigger = (event: Frame, trigger: string): Frame =>
  typeof event.text === 'string' ? { ...event, text: trigger + event.text } : event;

/** Returns the expected and the actual order of the events. Repeats of an event are counted. */
const orderOf = (steps: Dialogue['steps'], arrived: readonly string[]): string[] => [
  `the expected order is ${counted(serverEvents(steps))}`,
  `the actual order is   ${counted(arrived) || 'no event'}`,
];

const serverEvents = (steps: Dialogue['steps']): string[] =>
  steps.flatMap(({ from, event }) => (from === 'server' && event ? [kindOf(event)] : []));

/** Lists names in order. A name that follows itself is listed once with its count. */
function counted(names: readonly string[]): string {
  const groups: { name: string; count: number }[] = [];
  for (const name of names) {
    const last = groups.at(-1);
    if (last?.name === name) last.count += 1;
    else groups.push({ name, count: 1 });
  }
  return groups.map(({ name, count }) => (count === 1 ? name : `${name} x ${count}`)).join(', ');
}

/** Returns the events of the dialogue that did not arrive, or arrived in the wrong order. */
function missing(client: SocketClient, steps: Dialogue['steps']): string[] {
  const wanted = new Set(serverEvents(steps));
  const arrived = client.events.map(kindOf);
  const absent = [...wanted].filter((kind) => !arrived.includes(kind));
  const order = [...wanted].filter((kind) => arrived.includes(kind)).map((kind) => arrived.indexOf(kind));
  const isOrdered = order.every((at, index) => index === 0 || at > (order[index - 1] ?? -1));
  return [
    ...absent.map((kind) => `the event ${kind} did not arrive`),
    ...(isOrdered && absent.length === 0 ? [] : orderOf(steps, arrived)),
  ];
}
