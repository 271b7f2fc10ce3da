import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { commandsOf } from '../support/readme-commands.ts';
import { startStubServer } from './stub-server.ts';
import { runCommand } from './terminal.ts';

const headers = (name: string) => ({
  'content-type': 'application/json',
  'user-agent': 'unigate',
  'webhook-id': `msg_${name}_completed`,
  'webhook-timestamp': '1795000001',
  'webhook-signature': 'v1,signature=',
});
const bodyOf = (name: string) => `{ "title": "étude ${name}" }`;
const callback = (name: string, age = 0) => ({
  id: `msg_${name}_completed`,
  task_id: `task_${name}`,
  event: 'completed',
  created_at: 1_795_000_000 - age,
  headers: headers(name),
  body: bodyOf(name),
});

/** Responds with one list of callbacks after the other. Stops the command with the last. */
async function startGateway(pages: object[][]) {
  const stop = new AbortController();
  const starts: (string | null)[] = [];
  const url = await startStubServer(({ url: path = '' }, response) => {
    const items = pages[starts.length] ?? [];
    starts.push(new URL(path, 'http://x').searchParams.get('start'));
    if (starts.length >= pages.length) stop.abort();
    const body = { success: true, message: '', data: { items, total: items.length } };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  const run = (...args: string[]) =>
    runCommand(['listen', '--interval', '0.1', ...args], {
      env: { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' },
      signal: stop.signal,
    });
  return { run, starts };
}

async function startReceiver(status: number) {
  const received: {
    method?: string | undefined;
    path?: string | undefined;
    headers: object;
    body: string;
  }[] = [];
  const url = await startStubServer(async (request, response) => {
    const { method, url: path, headers: sent } = request;
    received.push({ method, path, headers: sent, body: await text(request) });
    response.writeHead(status, { location: '/elsewhere' }).end();
  });
  return { url, received };
}

test('the command in the guide starts', async () => {
  const guide = new URL('../../openapi/guides/12-webhooks.md', import.meta.url);
  const [command = ''] = await commandsOf(guide, 'listen');
  const [, options = ''] = /^npx unigate listen (.+)\n$/.exec(command) ?? [];
  const { run } = await startGateway([[], []]);
  const { stderr } = await run(...options.split(' '));
  expect(stderr).toContain('Ready. Callbacks are forwarded to http://localhost:3000/hook.');
});

test('forwards each new callback once, oldest first, with its headers and its exact body', async () => {
  const { url, received } = await startReceiver(204);
  const pages = [
    [callback('b', 1), callback('a', 90)],
    [callback('d'), callback('c'), callback('b', 1)],
    [callback('d'), callback('c')],
    [],
  ];
  const { run, starts } = await startGateway(pages);
  const { code, stdout, stderr } = await run('--forward-to', `${url}/hook?a=b`);
  expect(received).toMatchObject(
    ['c', 'd'].map((name) => ({
      method: 'POST',
      path: '/hook?a=b',
      headers: headers(name),
      body: bodyOf(name),
    })),
  );
  expect(stdout.toString()).toBe(
    ['c', 'd'].map((name) => `2026-11-18T11:06:40Z  msg_${name}_completed  completed  204\n`).join(''),
  );
  expect(stderr).toBe(`Ready. Callbacks are forwarded to ${url}/hook?a=b.\nunigate: stopped.\n`);
  expect(code).toBe(1);
  expect(starts).toEqual(['0', '1794999939', '1794999940', '1794999940']);
});

test('reports a response that does not acknowledge, without following a redirect', async () => {
  const { url, received } = await startReceiver(302);
  const { run } = await startGateway([[], [callback('a')], []]);
  const { stdout } = await run('--forward-to', url.replace('http://', ''), '--json', '--quiet');
  expect(JSON.parse(stdout.toString())).toEqual({
    id: 'msg_a_completed',
    task_id: 'task_a',
    event: 'completed',
    created_at: 1_795_000_000,
    status: 302,
  });
  expect(received).toHaveLength(1);
});

test('reports an address that does not respond, and continues', async () => {
  const { run } = await startGateway([[], [callback('a')], [callback('b'), callback('a')], []]);
  const { stdout } = await run('--forward-to', `127.0.0.1:${await freePort()}/hook`);
  const reason = 'not delivered: no server accepts connections there (ECONNREFUSED)';
  expect(stdout.toString()).toMatch(
    new RegExp(`^\\S+  msg_a_completed  completed  ${reason.replace(/[()]/g, '\\$&')}\n.*msg_b_completed`),
  );
});

test('reports a gateway that does not respond', async () => {
  const env = { UNIGATE_BASE_URL: `http://127.0.0.1:${await freePort()}`, UNIGATE_API_KEY: 'sk-test' };
  const { code, stderr } = await runCommand(['listen', '--forward-to', 'localhost:1'], { env });
  expect([code, stderr]).toEqual([
    1,
    `unigate: The connection to ${env.UNIGATE_BASE_URL} failed: no server accepts connections there (ECONNREFUSED).\n`,
  ]);
});

test.each([
  [[], '--forward-to is required.'],
  [['--forward-to', ''], '--forward-to is required.'],
  [['--forward-to', 'ftp://localhost/'], '--forward-to must be an http or https URL'],
  [['--forward-to', 'http://user:word@localhost/'], '--forward-to must be an http or https URL'],
  [['--forward-to', 'http://'], '--forward-to must be an http or https URL'],
])('listen %j is refused', async (args, message) => {
  const { run, starts } = await startGateway([]);
  const { code, stderr } = await run(...args);
  expect([code, stderr, starts]).toEqual([2, expect.stringContaining(message), []]);
});
