import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { operation, type SmallContract, smallContract } from './small-contract.ts';

const main = fileURLToPath(new URL('../../../openapi/dev/main.ts', import.meta.url));
let contract: SmallContract;

beforeAll(async () => {
  contract = await smallContract();
});
afterAll(() => contract.remove());

const running = new Set<ChildProcess>();
// Stops the processes of a failed test.
afterEach(() => running.forEach((child) => void child.kill()));

function start(...args: string[]) {
  const child = spawn(process.execPath, [main, '--root', contract.root, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const ended = once(child, 'close').then(([code]) => code as number);
  return { child, ended, output: () => output };
}

test.each([
  [['--port', '80808'], '--port must be from 0 to 65535, not 80808'],
  [['--port', 'here'], '--port must be from 0 to 65535, not here'],
  [['--twice'], "Unknown option '--twice'"],
])('%j is rejected', async (args, message) => {
  const { ended, output } = start(...args);
  expect(await ended).toBe(1);
  expect(output()).toContain(message);
});

test('a port in use is reported', async () => {
  const blocker = createServer().listen(0, '127.0.0.1');
  await once(blocker, 'listening');
  const address = blocker.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const { ended, output } = start('--port', String(port));
  expect(await ended).toBe(1);
  expect(output()).toContain(`--port ${port} is in use`);
  blocker.close();
});

test('--once exits with 0 without problems, and with 1 and the location of a problem', async () => {
  const valid = start('--once');
  expect(await valid.ended, valid.output()).toBe(0);
  await contract.write('openapi/paths/song.yaml', operation('A song.', 'Song'));
  const broken = start('--once');
  expect(await broken.ended).toBe(1);
  expect(broken.output()).toMatch(/openapi\/paths\/song\.yaml:3:16 error unigate\/operation-id-form/);
  await contract.write('openapi/paths/song.yaml', operation('A song.'));
});

test('a save is reported, the page in the browser reloads, and Ctrl-C stops the command', async () => {
  const { child, ended, output } = start('--port', '0');
  await expect.poll(output).toContain('other files');
  const [, address = ''] = /documentation on (\S+),/.exec(output()) ?? [];
  const read = async (path: string) => (await fetch(address + path)).text();
  expect(await read('docs/start.md')).toContain('Begin here.');

  const reloaded = nextReload(address);
  await contract.write('openapi/paths/song.yaml', operation('The song of all songs.'));
  await reloaded;
  expect(await read('docs/openapi.json')).toContain('The song of all songs.');
  expect(output()).toMatch(/saved openapi\/paths\/song\.yaml\n {2}operation getSong: summary "A song\." ->/);
  expect(output()).toMatch(/\nOK \d+ ms after the save/);
  await expect.poll(output).toContain('OK: breaks no client since the start; needs version');

  child.kill('SIGINT');
  expect(await ended).toBe(0);
});

/** Resolves when the server asks its pages to reload. */
async function nextReload(address: string): Promise<void> {
  const client = await (await fetch(`${address}@vite/client`)).text();
  const [, token = ''] = /wsToken = "([^"]+)"/.exec(client) ?? [];
  const socket = new WebSocket(`${address.replace('http', 'ws')}?token=${token}`, 'vite-hmr');
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.on('message', (data: Buffer) => {
      if ((JSON.parse(data.toString()) as { type: string }).type === 'full-reload') resolve();
    });
  });
  socket.terminate();
}
