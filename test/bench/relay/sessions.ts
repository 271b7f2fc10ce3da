import { LoadProcess } from '../processes.ts';
import { table } from '../report.ts';
import { type TargetName, type TargetOptions, Targets, targetNames } from '../targets.ts';
import { median, type Target, target } from '../verdict.ts';
import { eventBytes } from './audio-frames.ts';
import type { RelayRequest, RelayState } from './load.ts';
import { formats } from './plan.ts';
import { type RelayCell, type RelayMeasurement, RelayRounds } from './rounds.ts';

/** Sessions that are open at the same time. */
const sessionCount = 1000;
const roundSeconds = 3;
const maxRounds = 3;
/** Time after the start of the first round in which more rounds can start. A busy machine runs fewer rounds. */
const roundsMs = 40_000;
/** The handshakes of all sessions leave work behind, such as garbage. */
const settleMs = 1000;

/** Targets of the project. */
const maxAddedP99Ms = 10;
const maxSessionKb = 100;

interface Figures {
  frames: number;
  p50Ms: number;
  p99Ms: number;
  /** Median over the rounds. */
  cpuMicroseconds: number;
  othersBusy: number;
}

export interface SessionsSummary {
  sessions: number;
  rounds: number;
  delays: Readonly<Record<TargetName, Figures>>;
  /** Milliseconds that the gateway adds to direct sessions and to those of the raw relay. */
  added: Readonly<Record<'direct' | 'raw', { p50Ms: number; p99Ms: number }>>;
  /** Resident memory of each silent open session, in KB. */
  sessionKb: { raw: number; gateway: number };
}

type SessionsOptions = Pick<TargetOptions, 'server' | 'profile'>;

/**
 * Measures 1,000 duplex sessions that are open at the same time, on one gateway and one raw relay.
 *
 * @throws Error if a frame or the final ledger is wrong
 */
export async function measureSessions(options: SessionsOptions): Promise<SessionsSummary> {
  const sessionKb = await measureMemory(options);
  return summarizeSessions(await measureDelays(options), sessionKb);
}

/** The processes end after it: a forced collection discards compiled code, which would slow down later rounds. */
async function measureMemory({ server }: SessionsOptions): Promise<SessionsSummary['sessionKb']> {
  const nodeOptions = ['--expose-gc'];
  return withRelay({ server, profile: undefined, nodeOptions }, async (relay, targets) => {
    const measure = async (name: 'raw' | 'gateway') => {
      console.error(`measuring the memory of ${sessionCount} sessions, ${name}`);
      return (await relay.residentBytesPerSession(targets.select(name, 0), sessionCount)) / 1000;
    };
    return { raw: await measure('raw'), gateway: await measure('gateway') };
  });
}

async function measureDelays(options: SessionsOptions): Promise<RelayCell> {
  const cell: RelayCell = {
    mode: 'conversation',
    sessions: sessionCount,
    rounds: { direct: [], raw: [], gateway: [] },
  };
  await withRelay(options, async (relay) => {
    await relay.warmUp();
    const deadline = performance.now() + roundsMs;
    for (let round = 0; round < maxRounds && performance.now() < deadline; round += 1) {
      console.error(`measuring ${sessionCount} sessions, round ${round + 1}`);
      await relay.measure(cell, roundSeconds, settleMs);
    }
  });
  return cell;
}

/** Starts one process of each kind, and checks the ledger after `use`. */
async function withRelay<T>(
  options: SessionsOptions & Pick<TargetOptions, 'nodeOptions'>,
  use: (relay: RelayRounds, targets: Targets) => Promise<T>,
): Promise<T> {
  const targets = await Targets.start({
    ...options,
    processes: 1,
    upstream: 'relay/upstream.ts',
    raw: 'relay/raw-relay.ts',
  });
  try {
    const load = new LoadProcess<RelayRequest, RelayState>('relay/load.ts');
    const relay = new RelayRounds(targets, load);
    const result = await use(relay, targets);
    await targets.stop((server) => relay.totalsOf(server), 'sessions');
    await load.stop();
    return result;
  } finally {
    await targets.remove();
  }
}

/** Computes the percentiles of all frames of all rounds. */
export function summarizeSessions(
  { sessions, rounds }: RelayCell,
  sessionKb: SessionsSummary['sessionKb'],
): SessionsSummary {
  const delays = {
    direct: figures(rounds.direct),
    raw: figures(rounds.raw),
    gateway: figures(rounds.gateway),
  };
  const addedTo = (name: 'direct' | 'raw') => ({
    p50Ms: delays.gateway.p50Ms - delays[name].p50Ms,
    p99Ms: delays.gateway.p99Ms - delays[name].p99Ms,
  });
  const added = { direct: addedTo('direct'), raw: addedTo('raw') };
  return { sessions, rounds: rounds.gateway.length, delays, added, sessionKb };
}

function figures(rounds: readonly RelayMeasurement[]): Figures {
  const sorted = Float64Array.from(rounds.flatMap(({ delaysMs }) => delaysMs)).sort();
  const percentile = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  return {
    frames: sorted.length,
    p50Ms: percentile(0.5),
    p99Ms: percentile(0.99),
    cpuMicroseconds: median(rounds.map((round) => round.cpuMicroseconds)),
    othersBusy: median(rounds.map((round) => round.othersBusy)),
  };
}

export function sessionsTargets({ sessions, added, sessionKb }: SessionsSummary): Target[] {
  return [
    target(`${sessions} sessions: ms added to direct, p99`, added.direct.p99Ms, 'at most', maxAddedP99Ms),
    target(`${sessions} sessions: ms added to the raw relay, p99`, added.raw.p99Ms, 'at most', maxAddedP99Ms),
    target(`${sessions} sessions: resident KB of each`, sessionKb.gateway, 'at most', maxSessionKb),
  ];
}

/** Formats the results as Markdown for the README. */
export function sessionsMarkdown({ sessions, rounds, delays, added, sessionKb }: SessionsSummary): string {
  const { conversation } = formats;
  const size = (eventBytes(conversation) / 1000).toFixed(1);
  const rows = targetNames.map((name) => {
    const { frames, p50Ms, p99Ms, cpuMicroseconds, othersBusy } = delays[name];
    return [
      name === 'raw' ? 'raw relay' : name,
      String(frames),
      p50Ms.toFixed(2),
      p99Ms.toFixed(2),
      name === 'direct' ? '' : cpuMicroseconds.toFixed(0),
      name === 'direct' ? '' : sessionKb[name].toFixed(0),
      `${(othersBusy * 100).toFixed(0)} %`,
    ];
  });
  return [
    `${sessions} open sessions on one core, each with ${conversation.framesPerSecond} audio frames of ${size} KB per second and a new text every 0.8 s; delays of all frames of ${rounds} rounds of ${roundSeconds} s.`,
    table(
      ['the gateway adds', 'p50 ms', 'p99 ms'],
      [
        ['to direct', added.direct.p50Ms.toFixed(2), added.direct.p99Ms.toFixed(2)],
        ['to the raw relay', added.raw.p50Ms.toFixed(2), added.raw.p99Ms.toFixed(2)],
      ],
    ),
    table(['target', 'frames', 'p50 ms', 'p99 ms', 'CPU µs/frame', 'KB/session', 'load + stub busy'], rows),
  ].join('\n\n');
}
