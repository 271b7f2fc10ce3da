import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { read } from './files.ts';

const unit = read('server/app/deployment/unigate.service');
const hasSystemd = spawnSync('systemd-analyze', ['--version']).error === undefined;

/** Returns the values of a setting. */
const valuesOf = (name: string) =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);

test('the systemd unit starts the gateway like npm start', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: { start: string } };
  expect(valuesOf('ExecStart')).toEqual([
    scripts.start.replace(/^node/, `${valuesOf('WorkingDirectory')[0]}/node_modules/.bin/node`),
  ]);
  expect(valuesOf('ExecReload')).toEqual(['/bin/kill -HUP $MAINPID']);
  const compiler = valuesOf('MemoryDenyWriteExecute');
  expect(compiler, 'the JIT compiler needs executable memory').toEqual([]);
});

test('systemd waits for longer than a gateway takes to stop', () => {
  // `stop.delay_seconds` is at most 60.
  expect(Number(valuesOf('TimeoutStopSec')[0])).toBeGreaterThan(60 + 30 + 5);
});

test.skipIf(!hasSystemd)('systemd-analyze finds no mistake in the unit', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'unigate-unit-'));
  const file = join(folder, 'unigate.service');
  await writeFile(file, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  await rm(folder, { recursive: true });
});
