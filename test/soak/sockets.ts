import { WebSocket } from 'ws';
import { pick, price } from './asks.ts';
import { type Evidence, patienceMs, type SoakKey } from './evidence.ts';
import type { Node } from './node.ts';

interface Speaker {
  nodes: readonly Node[];
  random: () => number;
  evidence: Evidence;
  key: SoakKey;
}

interface Dialogue {
  kind: string;
  path: string;
  /** What the client sends when it is there, and after each event of the gateway. */
  answer(event: string, text: string): object[];
  /** The event after which all is done. */
  last: string;
  /** Of the request id in the books: an inference socket has several tasks. */
  suffix: string;
}

const spoken = 'A kite over the sea.';
/** Documented triggers of the upstream: some end the session, others only trouble it. */
const troubles = [
  '[[reject]]',
  '[[throttle]]',
  '[[error]]',
  '[[fail-late]]',
  '[[drop]]',
  '[[garbage]]',
  '[[malformed]]',
  '[[no-audio]]',
  '[[slow]]',
] as const;

const realtime: Dialogue = {
  kind: 'realtime session',
  path: '/v1/realtime?model=alpha3-tts-flash-realtime',
  last: 'session.finished',
  suffix: '',
  answer(event, text) {
    if (event === 'open')
      return [{ event_id: 'e1', type: 'session.update', session: { voice: 'Aria', mode: 'server_commit' } }];
    if (event !== 'session.updated') return [];
    return [
      { event_id: 'e2', type: 'input_text_buffer.append', text },
      { event_id: 'e3', type: 'session.finish' },
    ];
  },
};

const taskId = '0123456789abcdef0123456789abcdef';
const act = (action: string, payload: object) => ({
  header: { action, task_id: taskId, streaming: 'duplex' },
  payload,
});
const task = { task_group: 'audio', task: 'tts', function: 'SpeechSynthesizer', model: 'voxa-v3-flash' };

const inference: Dialogue = {
  kind: 'inference task',
  path: '/api-ws/v1/inference?model=voxa-v3-flash',
  last: 'task-finished',
  suffix: '.1',
  answer(event, text) {
    const parameters = { text_type: 'PlainText', voice: 'voxanna' };
    if (event === 'open') return [act('run-task', { ...task, parameters, input: {} })];
    if (event !== 'task-started') return [];
    return [act('continue-task', { input: { text } }), act('finish-task', { input: {} })];
  },
};

/** One session of either socket protocol, to its end, or left in the middle. */
export async function speakOnSocket({ nodes, random, evidence, key }: Speaker): Promise<void> {
  const { kind, path, answer, last, suffix } = random() < 0.5 ? realtime : inference;
  const leaves = random() < 0.2;
  const trouble = random() < 0.15 ? `${pick(random, troubles)} ` : '';
  const text = trouble + spoken;
  const up = nodes.filter(({ url }) => url !== undefined);
  const node = up[Math.floor(random() * up.length)];
  if (node?.url === undefined) return;
  const { life } = node;
  const begun = performance.now();
  const seen: string[] = [];
  let requestId = '';
  let refused = '';
  const socket = new WebSocket(node.url.replace(/^http/, 'ws') + path, {
    headers: { authorization: `Bearer ${key.secret}` },
    perMessageDeflate: false,
    handshakeTimeout: patienceMs,
  });
  // Not `once` of events, which an error would reject.
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const send = (event: string) => {
    for (const frame of answer(event, text)) socket.send(JSON.stringify(frame));
  };
  socket.on('upgrade', ({ headers }) => {
    requestId = `${String(headers['x-request-id'])}${suffix}`;
  });
  socket.on('unexpected-response', (_request, response) => {
    refused = `${response.statusCode} retry-after ${response.headers['retry-after']}`;
    response.resume();
    socket.terminate();
  });
  socket.on('error', (error) => seen.push(error.message));
  socket.on('open', () => send('open'));
  socket.on('message', (data: Buffer, binary: boolean) => {
    if (binary) return;
    const event = JSON.parse(data.toString()) as { type?: string; header?: { event: string } };
    const name = event.type ?? event.header?.event ?? '';
    seen.push(name === 'error' || name === 'task-failed' ? data.toString() : name);
    if (leaves && seen.length === 3) return socket.terminate();
    send(name);
    if (name === last) socket.close();
  });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    seen.push('and then nothing for minutes');
    socket.terminate();
  }, patienceMs);
  await closed;
  clearTimeout(timer);
  evidence.took(kind, performance.now() - begun);
  if (seen.includes(last)) {
    evidence.count(kind, 'done');
    evidence.told.push({
      requestId,
      kind,
      tokenId: key.id,
      status: 200,
      costs: trouble === '' ? text.length * price : undefined,
      logged: true,
    });
  } else if (leaves && seen.length >= 3) evidence.count(kind, 'left');
  else if (trouble !== '' && !late) evidence.count(kind, 'failed, as it was to');
  else if (node.life !== life) evidence.count(kind, 'cut off by a kill');
  else if (/^503 retry-after \d/.test(refused)) evidence.count(kind, '503');
  else evidence.fault(kind, `ended after ${refused} ${JSON.stringify(seen)}, request ${requestId}`);
}
