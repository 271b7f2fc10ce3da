import { getHeapSpaceStatistics } from 'node:v8';
import { expect, test } from 'vitest';
import { releaseMemory } from '../../server/lib/release-memory.ts';

/** Bytes that V8 has reserved for the young generation. */
function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;
}

test('returns the memory of the young generation', () => {
  // Objects that survive enlarge the young generation.
  const survivors: object[] = [];
  while (youngBytes() < 4e6) survivors.push({ value: survivors.length });
  const grown = youngBytes();
  expect(grown).toBeGreaterThanOrEqual(4e6);
  releaseMemory();
  expect(youngBytes()).toBeLessThan(grown / 2);
});
