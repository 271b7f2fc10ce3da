import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { readFlags } from './flags.ts';
import { scripts } from './sockets/scripts.ts';

const program = fileURLToPath(new URL('./main.ts', import.meta.url));
const started: ChildProcess[] = [];

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

function start(...options: string[]) {
  const child = spawn(process.execPath, [program, ...options]);
  started.push(child);
  return child;
}

async function listening(child: ReturnType<typeof start>): Promise<string> {
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const url = /^mock listening on (http:\/\/\S+)\n$/.exec(line.toString())?.[1];
  if (url === undefined) throw new Error(`unexpected output: ${line.toString()}`);
  return url;
}

test.each(['SIGINT', 'SIGTERM'] as const)('prints its URL, responds, and exits on %s', async (signal) => {
  const child = start('--port', '0');
  const response = await fetch(`${await listening(child)}/healthz`);
  expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
  child.kill(signal);
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('reports a port in use', async () => {
  const port = new URL(await listening(start('--port', '0'))).port;
  const second = start('--port', port);
  const [[message], [code]] = await Promise.all([once(second.stderr, 'data'), once(second, 'exit')]);
  expect(String(message)).toContain('the mock cannot start: ');
  expect(code).toBe(1);
});

test.each([
  [['--port', 'many'], '--port many is not a port from 0 to 65535'],
  [['--port', '1.5'], '--port 1.5 is not a port'],
  [['--task-seconds', '0'], '--task-seconds 0 is not a number of seconds up to a day'],
  [['--record-limit', '101'], '--record-limit 101 is not a number of megabytes up to 100'],
  [['--record', 'ftp://gateway', '--examples', '/tmp'], '--record ftp://gateway is not an http or https URL'],
  [['--record', 'http://127.0.0.1:1'], '--record requires --examples <folder>'],
  [['--key', 'sk-1'], '--key requires --record'],
  [['--examples', '/none/such'], '--examples /none/such is not a readable folder'],
  [['--seed', ''], '--seed is empty'],
  [['--speed', '1'], "Unknown option '--speed'"],
])('rejects %j', async (args, expected) => {
  await expect(readFlags(args, {})).rejects.toThrow(expected);
});

test('reports an invalid option', async () => {
  const child = start('--port', 'many');
  const [[message], [code]] = await Promise.all([once(child.stderr, 'data'), once(child, 'exit')]);
  expect(String(message)).toContain('the mock cannot start: --port many');
  expect(code).toBe(1);
});

test('lists its faults in the help', async () => {
  const child = start('--help');
  let help = '';
  child.stdout.on('data', (chunk: Buffer) => {
    help += chunk.toString();
  });
  expect((await once(child, 'close'))[0]).toBe(0);
  for (const [name, { about }] of scripts) expect(help).toMatch(new RegExp(`${name} +${about}`));
});
