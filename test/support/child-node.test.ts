import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { endsWithParent } from './child-node.ts';

const parent = `
  const { spawn } = await import('node:child_process');
  const child = spawn(process.execPath, [...${JSON.stringify(endsWithParent)}, '--eval', 'setInterval(() => {}, 1e6); console.log(process.pid)'], { stdio: ['pipe', 'inherit', 'inherit'] });
  setInterval(() => child.kill(0), 1e6);`;

test('a child process ends when its parent is killed', async () => {
  const killed = spawn(process.execPath, ['--input-type=module', '--eval', parent]);
  // The child inherits standard output, so `close` comes after both processes have ended.
  const closed = once(killed, 'close');
  await once(killed.stdout, 'data');
  killed.kill('SIGKILL');
  expect(await closed).toEqual([null, 'SIGKILL']);
});
