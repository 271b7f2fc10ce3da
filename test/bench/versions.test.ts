import { expect, test } from 'vitest';
import { comparisonsOf } from './versions.ts';

const sets = (cpu: readonly number[], requests: readonly number[]) =>
  cpu.map((one, index) => ({ cpu: one, requests: requests[index] ?? 1 }));

test.each([
  [
    'less CPU and more requests',
    [0.9, 0.92, 0.95, 0.97, 0.98, 0.99],
    [1.1, 1.2, 1.05, 1.02, 1.3, 1.1],
    'faster',
  ],
  [
    'more CPU and fewer requests',
    [1.1, 1.2, 1.05, 1.02, 1.3, 1.1],
    [0.9, 0.92, 0.95, 0.97, 0.98, 0.99],
    'slower',
  ],
  [
    'both in some pairs',
    [0.9, 1.1, 0.95, 1.02, 0.98, 0.99],
    [1.1, 0.9, 1.05, 1.02, 0.98, 1],
    'indistinguishable',
  ],
])('a version with %s in each pair of processes is %s', (_, cpu, requests, verdict) => {
  expect(comparisonsOf('a call', sets(cpu, requests))).toMatchObject([
    { measure: 'requests/s', verdict },
    { measure: 'CPU per request', verdict },
  ]);
});
