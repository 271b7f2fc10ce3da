import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { otherLoad, ownSeconds } from './other-load.ts';

test('other load is the CPU time of the machine without that of the own processes', () => {
  const before = { machine: 100, own: 10, at: 1000 };
  expect(otherLoad(before, { machine: 116, own: 22, at: 1010 }, 2)).toBeCloseTo(0.2);
  // The counters have different resolutions.
  expect(otherLoad(before, { machine: 111.9, own: 22, at: 1010 }, 2)).toBe(0);
});

test('the own CPU time contains that of the process and of its ended children', () => {
  const [user, system, childUser, childSystem] = [100, 20, 3000, 400];
  const stat = `7 (a b) c) S 1 7 7 0 -1 4194304 1 2 3 4 ${user} ${system} ${childUser} ${childSystem} 20 0`;
  expect(ownSeconds(stat)).toBeCloseTo(35.2);
});

test.runIf(process.platform === 'linux')('a child counts when it has ended', () => {
  const read = () => ownSeconds(readFileSync('/proc/self/stat', 'utf8'));
  const before = read();
  spawnSync(process.execPath, ['-e', 'while (process.cpuUsage().user < 200_000);']);
  expect(read() - before).toBeGreaterThan(0.15);
});
