import { WebSocket } from 'ws';
import type { GatewayNode } from './node.ts';
import { maxWaitMs, type Recorder, type SoakKey } from './recorder.ts';
import { pick, price } from './requests.ts';

interface SocketSessionOptions {
  nodes: readonly GatewayNode[];
  random: () => number;
  recorder: Recorder;
  key: SoakKey;
}

interface Dialogue {
  kind: string;
  path: string;
  /** Returns the frames to send after an event of the gateway, or after `open`. */
  framesAfter(event: string, text: string): object[];
  /** The event that ends the session. */
  last: string;
  /** Suffix of the request id in the ledger. An inference socket has several tasks. */
  suffix: string;
}

const sampleText = 'A kite over the sea.';
/** Documented triggers of the upstream. Some end the session. */
const failureTriggers = [
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
  framesAfter(event, text) {
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
const action = (action: string, payload: object) => ({
  header: { action, task_id: taskId, streaming: 'duplex' },
  payload,
});
const task = { task_group: 'audio', task: 'tts', function: 'SpeechSynthesizer', model: 'voxa-v3-flash' };

const inference: Dialogue = {
  kind: 'inference task',
  path: '/api-ws/v1/inference?model=voxa-v3-flash',
  last: 'task-finished',
  suffix: '.1',
  framesAfter(event, text) {
    const parameters = { text_type: 'PlainText', voice: 'voxanna' };
    if (event === 'open') return [action('run-task', { ...task, parameters, input: {} })];
    if (event !== 'task-started') return [];
    return [action('continue-task', { input: { text } }), action('finish-task', { input: {} })];
  },
};

/** Runs one session of either socket protocol, to its end or until the client disconnects. */
export async function runSocketSession({
  nodes,
  random,
  recorder,
  key,
}: SocketSessionOptions): Promise<void> {
  const { kind, path, framesAfter, last, suffix } = random() < 0.5 ? realtime : inference;
  const disconnects = random() < 0.2;
  const trigger = random() < 0.15 ? `${pick(random, failureTriggers)} ` : '';
  const text = trigger + sampleText;
  const running = nodes.filter(({ url }) => url !== undefined);
  const node = running[Math.floor(random() * running.length)];
  if (node?.url === undefined) return;
  const { generation } = node;
  const startedAt = performance.now();
  const received: string[] = [];
  let requestId = '';
  let refusal = '';
  const socket = new WebSocket(node.url.replace(/^http/, 'ws') + path, {
    headers: { authorization: `Bearer ${key.secret}` },
    perMessageDeflate: false,
    handshakeTimeout: maxWaitMs,
  });
  // `once` of node:events would reject on an error.
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const send = (event: string) => {
    for (const frame of framesAfter(event, text)) socket.send(JSON.stringify(frame));
  };
  socket.on('upgrade', ({ headers }) => {
    requestId = `${String(headers['x-request-id'])}${suffix}`;
  });
  socket.on('unexpected-response', (_request, response) => {
    refusal = `${response.statusCode} retry-after ${response.headers['retry-after']}`;
    response.resume();
    socket.terminate();
  });
  socket.on('error', (error) => received.push(error.message));
  socket.on('open', () => send('open'));
  socket.on('message', (data: Buffer, binary: boolean) => {
    if (binary) return;
    const event = JSON.parse(data.toString()) as { type?: string; header?: { event: string } };
    const name = event.type ?? event.header?.event ?? '';
    received.push(name === 'error' || name === 'task-failed' ? data.toString() : name);
    if (disconnects && received.length === 3) return socket.terminate();
    send(name);
    if (name === last) socket.close();
  });
  let isTimedOut = false;
  const timer = setTimeout(() => {
    isTimedOut = true;
    received.push('timeout');
    socket.terminate();
  }, maxWaitMs);
  await closed;
  clearTimeout(timer);
  recorder.recordDuration(kind, performance.now() - startedAt);
  if (received.includes(last)) {
    recorder.countOutcome(kind, 'done');
    recorder.responses.push({
      requestId,
      kind,
      tokenId: key.id,
      status: 200,
      expectedCost: trigger === '' ? text.length * price : undefined,
      logged: true,
    });
  } else if (disconnects && received.length >= 3) recorder.countOutcome(kind, 'disconnected');
  else if (trigger !== '' && !isTimedOut) recorder.countOutcome(kind, 'failed as expected');
  else if (node.generation !== generation) recorder.countOutcome(kind, 'cut off by a kill');
  else if (/^503 retry-after \d/.test(refusal)) recorder.countOutcome(kind, '503');
  else recorder.recordFault(kind, `ended after ${refusal} ${JSON.stringify(received)}, request ${requestId}`);
}
