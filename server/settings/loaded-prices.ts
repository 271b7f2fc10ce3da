import type { Settings } from './settings.ts';

/** The prices and group ratios that a configuration sets, to record when they change. */
export function loadedPrices({ revision, prices, groups }: Pick<Settings, 'revision' | 'prices' | 'groups'>) {
  const ratios = Object.fromEntries(Object.entries(groups).map(([name, { ratio }]) => [name, ratio]));
  return { revision, prices, ratios };
}
