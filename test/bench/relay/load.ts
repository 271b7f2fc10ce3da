import { ClientSession } from './client-session.ts';
import type { RelayMode } from './plan.ts';

// The load tool of the relay benchmark: a process that holds sessions open while its parent measures.

export type RelayRequest =
  /** Opens sessions. Answered when all of them receive audio, or are open if they are silent. */
  | { step: 'open'; port: number; mode: RelayMode; sessions: number; isSilent?: boolean }
  /** Sends a text in each silent session. Answered when all of them receive audio. */
  | { step: 'speak' }
  /** Answered at once. */
  | { step: 'state' }
  /** Finishes all sessions. Answered when they are closed. */
  | { step: 'finish' };

/** State of the open or just closed sessions. */
export interface RelayState {
  /** Clock of the load tool in milliseconds. */
  at: number;
  /** Number of audio frames so far. */
  frames: number;
  /** Number of characters of all texts so far. */
  characters: number;
  /** CPU time of the load tool so far. */
  cpuMicroseconds: number;
  /** Delay of each frame since the last call, from the upstream to here. Empty at full speed. */
  delaysMs: readonly number[];
}

/** Sessions that open at the same time. More than the backlog of a listening socket would wait for a second. */
const maxOpening = 100;

/** Maximum time for the sessions to open or to close. */
const timeoutMs = 20_000;

let sessions: readonly ClientSession[] = [];
let delaysMs: number[] = [];

process.on('message', (request: RelayRequest) => {
  handle(request).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: error instanceof Error ? error.message : String(error) }),
  );
});

async function handle(request: RelayRequest): Promise<RelayState> {
  if (request.step === 'open') {
    await open(request);
  } else if (request.step === 'speak') {
    for (const session of sessions) session.speak();
    await withTimeout(sessions.map(({ speaking }) => speaking));
  } else if (request.step === 'finish') {
    for (const session of sessions) session.finish();
    await withTimeout(sessions.map(({ ended }) => ended));
  }
  return readState();
}

async function open({ port, mode, sessions: count, isSilent }: Extract<RelayRequest, { step: 'open' }>) {
  const recordDelay = mode === 'full speed' ? undefined : (ms: number) => void delaysMs.push(ms);
  // A single session needs more queued texts to keep the relay busy.
  const queuedTexts = isSilent ? 0 : mode === 'full speed' ? (count === 1 ? 8 : 2) : 1;
  sessions = [];
  while (sessions.length < count) {
    const length = Math.min(maxOpening, count - sessions.length);
    const opening = Array.from({ length }, () => new ClientSession(port, mode, queuedTexts, recordDelay));
    sessions = [...sessions, ...opening];
    await withTimeout(opening.map(({ opened }) => opened));
  }
  if (!isSilent) await withTimeout(sessions.map(({ speaking }) => speaking));
}

async function withTimeout(done: readonly Promise<void>[]): Promise<void> {
  const timeout = new Error(`the sessions did not respond within ${timeoutMs / 1000} s`);
  const timer = setTimeout(() => {
    for (const session of sessions) session.fail(timeout);
  }, timeoutMs);
  try {
    await Promise.all(done);
  } finally {
    clearTimeout(timer);
  }
}

function readState(): RelayState {
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
