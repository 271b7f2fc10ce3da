import { availableParallelism, loadavg } from 'node:os';
import type { GatewayStart } from './targets.ts';

/** Something that the project demands, and what was found. */
export interface Target {
  what: string;
  found: number;
  demanded: string;
  reached: boolean;
}

export function target(
  what: string,
  found: number,
  relation: 'at least' | 'at most' | 'below',
  limit: number,
): Target {
  const reached = { 'at least': found >= limit, 'at most': found <= limit, below: found < limit }[relation];
  return { what, found, demanded: `${relation} ${limit}`, reached };
}

/** What is demanded of a gateway's start. */
export function startTargets(starts: readonly GatewayStart[]): Target[] {
  return [
    target('start to listening, s', median(starts.map(({ ms }) => ms)) / 1000, 'below', 1.5),
    target('resident memory then, MB', median(starts.map(({ residentMb }) => residentMb)), 'below', 200),
  ];
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** How far the middle half of some values lies apart, as a share of their median. */
export function spread(values: readonly number[]): number {
  return (quantile(values, 0.75) - quantile(values, 0.25)) / median(values);
}

/** Between two values, as far from each as its place is. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  const place = (sorted.length - 1) * share;
  const [lower = Number.NaN, upper = lower] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return lower + (upper - lower) * (place - Math.floor(place));
}

/** Load average per core, before anything is begun, beyond which others are at work. */
const maxLoad = 0.5;
/** More than the raw proxy's rounds differ by themselves on a quiet machine. */
const maxSpread = 0.15;

export function loadPerCore(): number {
  return (loadavg()[0] ?? 0) / availableParallelism();
}

/** Why the figures say nothing of the gateway; empty on a quiet machine. */
export function disturbances(load: number, rawSpreads: readonly number[]): string[] {
  const widest = Math.max(0, ...rawSpreads);
  return [
    ...(load > maxLoad ? [`the load was ${load.toFixed(1)} per core before it began`] : []),
    ...(widest > maxSpread
      ? [
          `the raw proxy's own rounds lie ${(widest * 100).toFixed(0)} % apart, of which ${maxSpread * 100} % are usual`,
        ]
      : []),
  ];
}

/** All targets in words, and whether the machine let them be told. */
export function verdict(targets: readonly Target[], disturbed: readonly string[]): string {
  const missed = targets.filter(({ reached }) => !reached).length;
  const lines = targets.map(({ what, found, demanded, reached }) => {
    const far = reached ? 'reached' : 'missed';
    return `| ${what} | ${found.toFixed(2)} | ${demanded} | ${far} |`;
  });
  return [
    ['| target | found | demanded | |', '|---|--:|--:|---|', ...lines].join('\n'),
    disturbed.length > 0
      ? `The machine was too busy to tell: ${disturbed.join(', and ')}.`
      : `${targets.length - missed} of ${targets.length} targets reached on a quiet machine.`,
  ].join('\n\n');
}
