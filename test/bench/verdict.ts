import { availableParallelism, loadavg } from 'node:os';
import type { GatewayStart } from './targets.ts';

/** A target of the project and its measured value. */
export interface Target {
  name: string;
  value: number;
  limit: string;
  reached: boolean;
}

export function target(
  name: string,
  value: number,
  relation: 'at least' | 'at most' | 'below',
  limit: number,
): Target {
  const reached = { 'at least': value >= limit, 'at most': value <= limit, below: value < limit }[relation];
  return { name, value, limit: `${relation} ${limit}`, reached };
}

/** Returns the targets for the start of a gateway. */
export function startTargets(starts: readonly GatewayStart[]): Target[] {
  return [
    target('start to listening, s', median(starts.map(({ ms }) => ms)) / 1000, 'at most', 0.8),
    target('resident memory then, MB', median(starts.map(({ residentMb }) => residentMb)), 'at most', 150),
  ];
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Returns the interquartile range relative to the median. */
export function spread(values: readonly number[]): number {
  return (quantile(values, 0.75) - quantile(values, 0.25)) / median(values);
}

/** A range with the median of a distribution, with a confidence of 95 %. */
export interface Interval {
  low: number;
  high: number;
}

/** Fewest samples for an interval of 95 %. */
export const minSamples = 6;

/**
 * Returns the interval between two samples that contains the median of their distribution with a confidence of at least 95 %.
 * It assumes nothing about the distribution.
 *
 * @throws RangeError if there are fewer than `minSamples`
 */
export function medianInterval(samples: readonly number[]): Interval {
  const sorted = samples.toSorted((left, right) => left - right);
  // The number of samples below the median has a binomial distribution.
  let probability = 0.5 ** sorted.length;
  let below = 0;
  let rank = 0;
  while (below + probability <= 0.025) {
    below += probability;
    probability *= (sorted.length - rank) / (rank + 1);
    rank += 1;
  }
  const [low, high] = [sorted[rank - 1], sorted[sorted.length - rank]];
  if (low === undefined || high === undefined)
    throw new RangeError(`an interval needs at least ${minSamples} samples, not ${samples.length}`);
  return { low, high };
}

/** Returns a quantile with linear interpolation. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  const position = (sorted.length - 1) * share;
  const [lower = Number.NaN, upper = lower] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  return lower + (upper - lower) * (position - Math.floor(position));
}

/** Maximum load average per core before the benchmark. */
export const maxLoad = 0.5;
/** Maximum spread of the raw proxy's rounds. A wider one makes the ratios meaningless. */
export const maxSpread = 0.15;

export function loadPerCore(): number {
  return (loadavg()[0] ?? 0) / availableParallelism();
}

/** Returns the reasons why the results are not meaningful. Empty on a quiet machine. */
export function findDisturbances(load: number, rawSpreads: readonly number[]): string[] {
  const widest = Math.max(0, ...rawSpreads);
  return [
    ...(load > maxLoad ? [`the load was ${load.toFixed(1)} per core before the start`] : []),
    ...(widest > maxSpread
      ? [
          `the raw proxy's rounds have a spread of ${(widest * 100).toFixed(0)} % instead of at most ${maxSpread * 100} %`,
        ]
      : []),
  ];
}

export const busyMachine = (disturbed: readonly string[]): string =>
  `The machine was too busy for a result: ${disturbed.join(', and ')}.`;

/** Formats the targets as Markdown, and reports a busy machine. */
export function verdict(targets: readonly Target[], disturbed: readonly string[]): string {
  const missed = targets.filter(({ reached }) => !reached).length;
  const lines = targets.map(({ name, value, limit, reached }) => {
    const result = disturbed.length > 0 ? 'not judged' : reached ? 'reached' : 'missed';
    return `| ${name} | ${value.toFixed(2)} | ${limit} | ${result} |`;
  });
  return [
    ['| target | measured | limit | |', '|---|--:|--:|---|', ...lines].join('\n'),
    disturbed.length > 0
      ? busyMachine(disturbed)
      : `${targets.length - missed} of ${targets.length} targets reached on a quiet machine.`,
  ].join('\n\n');
}
