import { LoadProcess } from '../processes.ts';
import { type TargetOptions, Targets } from '../targets.ts';
import type { RelayRequest, RelayState } from './load.ts';
import type { RelayMode } from './plan.ts';
import { type RelaySummary, summarizeRelay } from './report.ts';
import { type RelayCell, RelayRounds } from './rounds.ts';

const sessionCounts = [1, 100] as const;

/** Duration of a round relative to `seconds`. Fewer sessions need longer for the same number of delays. */
const shares = { 'full speed': { 1: 0.35, 100: 0.35 }, paced: { 1: 0.75, 100: 0.35 } } as const;

/**
 * Measures the relay of the realtime socket. A busy machine runs fewer rounds.
 *
 * @throws Error if a frame or the final ledger is wrong
 */
export async function measureRelay(
  options: { rounds: number; seconds: number } & Pick<TargetOptions, 'server' | 'profile' | 'processes'>,
): Promise<RelaySummary[]> {
  const { rounds, seconds } = options;
  const targets = await Targets.start({
    ...options,
    upstream: 'relay/upstream.ts',
    raw: 'relay/raw-relay.ts',
  });
  try {
    const load = new LoadProcess<RelayRequest, RelayState>('relay/load.ts');
    const relay = new RelayRounds(targets, load);
    await relay.warmUp();
    const cells = sessionCounts.map((sessions) => ({
      sessions,
      fullSpeed: newCell('full speed', sessions),
      paced: newCell('paced', sessions),
    }));
    const deadline = performance.now() + rounds * (6 * seconds + 2) * 1000;
    for (let round = 0; round < rounds && performance.now() < deadline; round += 1) {
      console.error(`measuring the relay, round ${round + 1}`);
      for (const { sessions, fullSpeed, paced } of cells) {
        await relay.measure(fullSpeed, seconds * shares['full speed'][sessions]);
        await relay.measure(paced, seconds * shares.paced[sessions]);
      }
    }
    await targets.stop((server) => relay.totalsOf(server), 'sessions');
    await load.stop();
    return cells.map(({ fullSpeed, paced }) => summarizeRelay(fullSpeed, paced));
  } finally {
    await targets.remove();
  }
}

function newCell(mode: RelayMode, sessions: number): RelayCell {
  return { mode, sessions, rounds: { direct: [], raw: [], gateway: [] } };
}
