import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { run } from '../main.ts';

const validArgs = ['--base-url', 'http://127.0.0.1:9', '--key', 'sk-secret'];

async function runWith(args: string[], env: Record<string, string> = {}) {
  let out = '';
  let err = '';
  const stdout = { write: (text: string) => void (out += text) };
  const stderr = { write: (text: string) => void (err += text) };
  const code = await run(args, { env, stdout, stderr }, '1.2.3');
  return { code, out, err };
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('options', () => {
  test.each([
    [[], '--base-url is missing'],
    [['--base-url', 'http://127.0.0.1:9'], '--key is missing'],
    [['--base-url', 'ftp://a', '--key', 'k'], '--base-url: must be an http or https address, not ftp://a'],
    [[...validArgs, '--runs', '-1'], '--runs'],
    [[...validArgs, '--runs', '10001'], '--runs: must be a whole number from 0 to 10000, not 10001'],
    [[...validArgs, '--seed', 'x'], '--seed: must be a whole number from 0 to 2147483647, not x'],
    [[...validArgs, '--timeout', '0'], '--timeout: must be a whole number from 1 to 600, not 0'],
    [
      [...validArgs, '--callbacks-at', 'ftp://a'],
      '--callbacks-at: must be an http or https address, not ftp://a',
    ],
    [[...validArgs, '--callbacks-at', ''], '--callbacks-at: must be an http or https address'],
    [[...validArgs, '--callbacks-port', '9000'], '--callbacks-port: requires --callbacks-at'],
    [
      [...validArgs, '--callbacks-at', 'https://a.example', '--callbacks-port', '0'],
      '--callbacks-port: must be a whole number from 1 to 65535, not 0',
    ],
    [[...validArgs, '--triggers', 'maybe'], 'Allowed choices are auto, on, off.'],
    [
      [...validArgs, '--only', 'createSpech'],
      '--only: createSpech is neither an operation of the contract nor an area (speech',
    ],
    [[...validArgs, '--repport', 'a'], "Unknown option '--repport'. Did you mean --report?"],
    [[...validArgs, 'now'], 'Too many arguments.'],
    [
      [...validArgs, '--report', '/no/such/folder/a.json'],
      '--report: /no/such/folder/a.json cannot be written (ENOENT)',
    ],
  ])('rejects %j', async (args, message) => {
    const { code, out, err } = await runWith(args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(message);
    expect(err).toMatch(/^unigate-conformance: .+ See unigate-conformance --help\.\n$/);
  });

  test('prints help and version', async () => {
    expect(await runWith(['--help'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('--only <name>'),
    });
    expect(await runWith(['-V'])).toEqual({ code: 0, out: '1.2.3\n', err: '' });
  });
});

describe('a server that cannot be tested', () => {
  test('reports a refused connection', async () => {
    const closed = createServer();
    const url = await listening(closed);
    await new Promise((resolve) => closed.close(resolve));
    const { code, err } = await runWith(['--base-url', url, '--key', 'sk-secret']);
    expect(code).toBe(2);
    expect(err).toMatch(/^unigate-conformance: http:\S+ cannot be reached: .*ECONNREFUSED.*\n$/);
  });

  test('reports a rejected key without printing it', async () => {
    const server = createServer((_request, response) => {
      response
        .writeHead(401, { 'content-type': 'application/json' })
        .end('{"error":{"message":"no sk-secret"}}');
    });
    const url = await listening(server);
    const { code, err } = await runWith([], { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-secret' });
    server.close();
    expect(code).toBe(2);
    expect(err).toBe(`unigate-conformance: ${url} rejects the key: {"error":{"message":"no ***"}}\n`);
  });
});
