import { ClientSession } from './client-session.ts';
import type { RelayMode } from './plan.ts';

/** The load tool of the relay benchmark: a process that holds sessions open while its parent looks on. */

export type RelayRequest =
  /** Opens sessions; answered when audio comes in all of them. */
  | { step: 'open'; port: number; mode: RelayMode; sessions: number }
  /** Answered at once. */
  | { step: 'look' }
  /** Ends all sessions; answered when they are closed. */
  | { step: 'finish' };

/** The state of the sessions that are open, or were until just now. */
export interface RelayState {
  /** Milliseconds, on a clock of the load tool. */
  at: number;
  /** Audio frames so far. */
  frames: number;
  /** Characters of all texts so far. */
  characters: number;
  /** CPU of the load tool so far, in microseconds. */
  cpuMicroseconds: number;
  /** Of each frame since the last look, from the upstream's send to here, in milliseconds; in paced mode only. */
  delaysMs: readonly number[];
}

/** Longest time for the sessions to open, or to end, in milliseconds. */
const patience = 20_000;

let sessions: readonly ClientSession[] = [];
let delaysMs: number[] = [];

process.on('message', (request: RelayRequest) => {
  take(request).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: error instanceof Error ? error.message : String(error) }),
  );
});

async function take(request: RelayRequest): Promise<RelayState> {
  if (request.step === 'open') {
    await open(request);
  } else if (request.step === 'finish') {
    for (const session of sessions) session.finish();
    await inTime(sessions.map(({ ended }) => ended));
  }
  return look();
}

async function open({ port, mode, sessions: count }: Extract<RelayRequest, { step: 'open' }>) {
  const note = mode === 'paced' ? (ms: number) => void delaysMs.push(ms) : undefined;
  // One session must keep the relay busy while the next text is on its way; many need not.
  const ahead = mode === 'paced' ? 1 : count === 1 ? 8 : 2;
  sessions = Array.from({ length: count }, () => new ClientSession(port, mode, ahead, note));
  await inTime(sessions.map(({ speaking }) => speaking));
}

async function inTime(done: readonly Promise<void>[]): Promise<void> {
  const late = new Error(`the sessions hang: nothing more came within ${patience / 1000} s`);
  const alarm = setTimeout(() => {
    for (const session of sessions) session.fail(late);
  }, patience);
  try {
    await Promise.all(done);
  } finally {
    clearTimeout(alarm);
  }
}

function look(): RelayState {
  const { user, system } = process.cpuUsage();
  const sum = (name: 'frames' | 'characters') => sessions.reduce((total, one) => total + one[name], 0);
  const state = {
    at: performance.now(),
    frames: sum('frames'),
    characters: sum('characters'),
    cpuMicroseconds: user + system,
    delaysMs,
  };
  delaysMs = [];
  return state;
}
