import type { Outcome } from '../asks/ask.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import { type Dialogue, dialoguesOf } from '../sockets/dialogues.ts';
import { connect, type Frame, type SocketClient } from '../sockets/socket-client.ts';
import {
  channelAt,
  errorCodeOf,
  kindOf,
  messagesFrom,
  nameOf,
  recognized,
} from '../sockets/socket-messages.ts';
import { Unavailable } from '../subject/unavailable.ts';
import type { World } from '../subject/world.ts';

/** Dialogues in which something has to go wrong, and the word that a sandbox does it for. */
const triggers: Readonly<Record<string, string>> = { 'realtime-provider-failure': '[[drop]] ' };
/** Dialogues in which the client falls silent, and how many milliseconds the server waits for it. */
const silences: Readonly<Record<string, number>> = { 'inference-timeout': 23_000 };
/** How much earlier it may be, since both sides have a clock, in milliseconds. */
const early = 500;

/** The documented dialogues of a socket but those with a silence, each as a check. */
export const dialogueChecks = (operation: DocumentedOperation, world: World) =>
  checksOf(operation, world, ({ name }) => silences[name] === undefined);

/** Those with a silence. */
export const silentDialogueChecks = (operation: DocumentedOperation, world: World) =>
  checksOf(operation, world, ({ name }) => silences[name] !== undefined);

function checksOf(
  operation: DocumentedOperation,
  world: World,
  isWanted: (dialogue: Dialogue) => boolean,
): { name: string; work: () => Promise<Outcome> }[] {
  if (!operation.responses.some(({ status }) => status === 101)) return [];
  const channel = channelAt(operation.path);
  const dialogues = [...dialoguesOf(channel), ...ownDialogues(channel)].filter(isWanted);
  return dialogues.map((dialogue) => ({
    name: `the dialogue ${dialogue.name}`,
    work: () => hold(operation, channel, dialogue, world),
  }));
}

/** Turns of a conversation that no documented dialogue has. */
function ownDialogues(channel: string): Dialogue[] {
  if (channel === 'inference') return [];
  const session = { voice: 'Aria', mode: 'commit', response_format: 'pcm', sample_rate: 24000 };
  const client = (event: Frame) => ({ from: 'client' as const, event });
  const server = (type: string) => ({ from: 'server' as const, event: { type } });
  return [
    {
      name: 'a response that is canceled, and a session that is finished',
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

async function hold(
  { path }: DocumentedOperation,
  channel: string,
  dialogue: Dialogue,
  { target, timeoutMs: forAnswer, seen, triggers: honoured }: World,
): Promise<Outcome> {
  const silence = silences[dialogue.name] ?? 0;
  const timeoutMs = forAnswer + silence;
  const words = triggers[dialogue.name];
  if (words !== undefined && !honoured)
    throw new Unavailable('the provider has to fail, which only a trigger does');
  const address = `${target.url}${path}?${new URLSearchParams(dialogue.query).toString()}`;
  const curl = `# ${dialogue.name} on ${address}`;
  const client = await connect(address, { key: target.key, timeoutMs });
  const problems = await play(client, dialogue, words ?? '', timeoutMs, silence).catch((error: unknown) => [
    error instanceof Error ? error.message : String(error),
  ]);
  client.socket.terminate();
  for (const { event } of dialogue.steps) {
    const sent = messagesFrom(channel, 'receive').find(
      ({ name }) => event !== undefined && name === nameOf(event),
    );
    if (sent !== undefined) seen.events.add(`${channel} client ${sent.key}`);
  }
  for (const frame of client.events) {
    const { keys, problems: wrong } = recognized(channel, frame);
    for (const key of keys) seen.events.add(`${channel} server ${key}`);
    seen.noteError(channel === 'inference' ? 'inference' : 'realtime', errorCodeOf(frame));
    problems.push(...wrong);
  }
  const [binary] = messagesFrom(channel, 'send').filter((message) => message.binary);
  if (client.audio.length > 0) {
    if (binary === undefined) problems.push('a binary frame is not documented');
    else seen.events.add(`${channel} server ${binary.key}`);
  }
  problems.push(...client.garbage.map((text) => `a text frame is no JSON: ${text}`));
  return { problems, curl };
}

/** Says what the client says, each time after what the server said before it. */
async function play(
  client: SocketClient,
  { steps, close }: Dialogue,
  words: string,
  timeoutMs: number,
  silence: number,
): Promise<string[]> {
  let awaited: string | undefined;
  let spokenAt = 0;
  const heard = async () => {
    const kind = awaited;
    awaited = undefined;
    if (kind !== undefined) await client.next((frame) => kindOf(frame) === kind);
  };
  for (const { from, event } of steps) {
    if (event === undefined) continue;
    if (from === 'server') awaited = kindOf(event);
    else {
      await heard();
      client.send(spoken(event, words));
      spokenAt = performance.now();
    }
  }
  await heard();
  const problems = missing(client, steps);
  const waited = performance.now() - spokenAt;
  if (waited < silence - early)
    problems.push(
      `the server has enough after ${waited / 1000} seconds of silence instead of ${silence / 1000}`,
    );
  // How it closes is no news where it went wrong before, and nobody waits for a server that has enough of an idle client.
  if (problems.length > 0 || close?.from !== 'server' || close.reason === 'idle') return problems;
  const timeout = new Promise<{ code?: number }>((resolve) => {
    setTimeout(() => resolve({}), timeoutMs).unref();
  });
  const closed = await Promise.race([client.closed, timeout]);
  if (closed.code === close.code) return [];
  return [`the server closes with ${closed.code ?? 'nothing'} instead of ${close.code}`];
}

const spoken = (event: Frame, words: string): Frame =>
  typeof event.text === 'string' ? { ...event, text: words + event.text } : event;

/** Kinds of events of the dialogue that did not come, or came before what they follow. */
function missing(client: SocketClient, steps: Dialogue['steps']): string[] {
  const wanted = new Set(
    steps.flatMap(({ from, event }) => (from === 'server' && event ? [kindOf(event)] : [])),
  );
  const came = client.events.map(kindOf);
  const absent = [...wanted].filter((kind) => !came.includes(kind));
  const order = [...wanted].filter((kind) => came.includes(kind)).map((kind) => came.indexOf(kind));
  const isOrdered = order.every((at, index) => index === 0 || at > (order[index - 1] ?? -1));
  return [
    ...absent.map((kind) => `the event ${kind} did not come`),
    ...(isOrdered ? [] : [`the events came in the order ${[...new Set(came)].join(', ')}`]),
  ];
}
