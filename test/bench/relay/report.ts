import { table } from '../report.ts';
import { type TargetName, targetNames } from '../targets.ts';
import { median, type Target, target } from '../verdict.ts';
import { eventBytes } from './audio-frames.ts';
import { shortFrames } from './plan.ts';
import type { RelayCell, RelayMeasurement } from './rounds.ts';

interface FullSpeed {
  framesPerSecond: number;
  cpuMicroseconds: number;
  othersBusy: number;
}

interface Paced {
  cpuMicroseconds: number;
  /** Number of frames of all rounds, the basis of the percentiles. */
  frames: number;
  p50Ms: number;
  p99Ms: number;
}

export interface RelaySummary {
  sessions: number;
  /** Number of rounds, which is lower on a slow machine. */
  rounds: number;
  fullSpeed: Readonly<Record<TargetName, FullSpeed>>;
  paced: Readonly<Record<TargetName, Paced>>;
  /** Gateway relative to raw relay at full speed: median of the ratios of the rounds. */
  ratios: { framesPerSecond: number; cpu: number };
  /** Milliseconds added to direct, for paced frames. */
  added: Readonly<Record<'raw' | 'gateway', { p50Ms: number; p99Ms: number }>>;
}

type Figure = 'framesPerSecond' | 'cpuMicroseconds' | 'othersBusy';

/** Summarizes both modes of one number of sessions. */
export function summarizeRelay(fullSpeedCell: RelayCell, pacedCell: RelayCell): RelaySummary {
  const fullSpeed = forEachTarget(fullSpeedCell, (rounds) => ({
    framesPerSecond: medianOf(rounds, 'framesPerSecond'),
    cpuMicroseconds: medianOf(rounds, 'cpuMicroseconds'),
    othersBusy: medianOf(rounds, 'othersBusy'),
  }));
  const paced = forEachTarget(pacedCell, (rounds) => {
    const delays = Float64Array.from(rounds.flatMap(({ delaysMs }) => delaysMs)).sort();
    const percentile = (share: number) => delays[Math.floor((delays.length - 1) * share)] ?? Number.NaN;
    const cpuMicroseconds = medianOf(rounds, 'cpuMicroseconds');
    return { cpuMicroseconds, frames: delays.length, p50Ms: percentile(0.5), p99Ms: percentile(0.99) };
  });
  const { raw, gateway } = fullSpeedCell.rounds;
  const ratio = (name: Figure) =>
    median(gateway.map((round, index) => round[name] / (raw[index]?.[name] ?? Number.NaN)));
  const added = (name: 'raw' | 'gateway') => ({
    p50Ms: paced[name].p50Ms - paced.direct.p50Ms,
    p99Ms: paced[name].p99Ms - paced.direct.p99Ms,
  });
  return {
    sessions: fullSpeedCell.sessions,
    rounds: gateway.length,
    fullSpeed,
    paced,
    ratios: { framesPerSecond: ratio('framesPerSecond'), cpu: ratio('cpuMicroseconds') },
    added: { raw: added('raw'), gateway: added('gateway') },
  };
}

const medianOf = (rounds: readonly RelayMeasurement[], name: Figure) =>
  median(rounds.map((round) => round[name]));

function forEachTarget<T>(
  { rounds: { direct, raw, gateway } }: RelayCell,
  summarizeRounds: (rounds: readonly RelayMeasurement[]) => T,
): Record<TargetName, T> {
  return { direct: summarizeRounds(direct), raw: summarizeRounds(raw), gateway: summarizeRounds(gateway) };
}

const labels: Readonly<Record<TargetName, string>> = {
  direct: 'direct',
  raw: 'raw relay',
  gateway: 'gateway',
};

/** Targets of the project. */
export function relayTargets(summaries: readonly RelaySummary[]): Target[] {
  return summaries.map(({ sessions, ratios: { framesPerSecond } }) =>
    target(`${sessionsOf(sessions)}: frames/s, gateway / raw relay`, framesPerSecond, 'at least', 2.5),
  );
}

/** Formats the results as Markdown for the README. */
export function relayMarkdown(
  summaries: readonly RelaySummary[],
  { processes }: { processes: number },
): string {
  const [{ rounds } = { rounds: 0 }] = summaries;
  const { framesPerSecond } = shortFrames;
  const frameBytes = eventBytes(shortFrames);
  const size = (frameBytes / 1000).toFixed(1);
  return [
    `Realtime sessions with audio frames of ${size} KB, at full speed and at the pace of speech (${framesPerSecond} frames per second and session); medians of ${rounds} interleaved rounds over ${processes} processes each, delays of all paced frames.`,
    table(
      ['gateway / raw relay', 'frames/s', 'CPU per frame', 'gateway adds, p50 ms', 'p99 ms'],
      summaries.map(({ sessions, ratios, added: { gateway } }) => [
        sessionsOf(sessions),
        ratios.framesPerSecond.toFixed(2),
        ratios.cpu.toFixed(2),
        gateway.p50Ms.toFixed(2),
        gateway.p99Ms.toFixed(2),
      ]),
    ),
    table(
      ['full speed', 'target', 'frames/s', 'MB/s', 'CPU µs/frame', 'load + stub busy'],
      summaries.flatMap(({ sessions, fullSpeed }) =>
        targetNames.map((name) => {
          const { framesPerSecond: rate, cpuMicroseconds, othersBusy } = fullSpeed[name];
          return [
            sessionsOf(sessions),
            labels[name],
            rate.toFixed(0),
            ((rate * frameBytes) / 1e6).toFixed(0),
            name === 'direct' ? '' : cpuMicroseconds.toFixed(1),
            `${(othersBusy * 100).toFixed(0)} %`,
          ];
        }),
      ),
    ),
    table(
      ['paced', 'target', 'frames', 'p50 ms', 'p99 ms', 'added p50', 'added p99', 'CPU µs/frame'],
      summaries.flatMap(({ sessions, paced, added }) =>
        targetNames.map((name) => {
          const { frames, p50Ms, p99Ms, cpuMicroseconds } = paced[name];
          return [
            sessionsOf(sessions),
            labels[name],
            String(frames),
            p50Ms.toFixed(2),
            p99Ms.toFixed(2),
            ...(name === 'direct'
              ? ['', '', '']
              : [added[name].p50Ms.toFixed(2), added[name].p99Ms.toFixed(2), cpuMicroseconds.toFixed(0)]),
          ];
        }),
      ),
    ),
  ].join('\n\n');
}

function sessionsOf(count: number): string {
  return count === 1 ? '1 session' : `${count} sessions`;
}
