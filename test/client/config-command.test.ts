import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startStubServer } from './stub-server.ts';
import { runCommand } from './terminal.ts';

let home: string;
let file: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'unigate-home-'));
  file = join(home, '.config/unigate/config.json');
});
afterEach(() => rm(home, { recursive: true }));

const config = (args: string[], stdin = '') =>
  runCommand(['config', ...args], { env: { HOME: home }, stdin });
const stored = async (): Promise<unknown> => JSON.parse(await readFile(file, 'utf8'));

describe('config set', () => {
  test('stores settings in a file that only the user can read', async () => {
    expect(await config(['set', 'base-url=https://gateway.example'])).toMatchObject({ code: 0, stderr: '' });
    expect(await config(['set', 'key=-'], 'sk-secret\n')).toMatchObject({ code: 0, stderr: '' });
    expect(await stored()).toEqual({ 'base-url': 'https://gateway.example', key: 'sk-secret' });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(home, '.config/unigate'))).mode & 0o077).toBe(0);
  });

  test('replaces a file that others can read', async () => {
    await mkdir(join(home, '.config/unigate'), { recursive: true });
    await writeFile(file, '{}', { mode: 0o644 });
    await config(['set', 'key=sk-secret']);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test.each([
    [['set', 'sk-secret'], 'The setting must have the form NAME=VALUE.'],
    [['set', 'sk-secret=1'], 'The name must be one of base-url, key.'],
    [['set', 'key=sk-secret with-space'], 'key must be one word of ASCII characters.'],
    [['set', 'key='], 'key must be one word of ASCII characters.'],
    [['set', 'base-url=sk-secret'], 'base-url must be an http or https URL.'],
    [['unset', 'keys'], 'The name must be one of base-url, key.'],
  ])('%j is refused without the value', async (args, message) => {
    const { code, stderr } = await config(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).not.toContain('secret');
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });

  test('needs a home folder', async () => {
    const { code, stderr } = await runCommand(['config', 'set', 'key=k']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('set HOME or XDG_CONFIG_HOME.')]);
  });

  test('uses the folder of the user on each system', async () => {
    await runCommand(['config', 'set', 'key=k'], { env: { XDG_CONFIG_HOME: join(home, 'xdg'), HOME: home } });
    await runCommand(['config', 'set', 'key=k'], { env: { APPDATA: join(home, 'data'), USERPROFILE: home } });
    await stat(join(home, 'xdg/unigate/config.json'));
    await stat(join(home, 'data/unigate/config.json'));
  });
});

test('config show and unset never print the key', async () => {
  await config(['set', 'key=sk-secret']);
  await config(['set', 'base-url=https://gateway.example']);
  const shown = (await config(['show'])).stdout.toString();
  expect(shown).toMatch(/^file +.*config\.json\nbase-url +https:\/\/gateway\.example\nkey +\*\*\*\n$/);
  expect(JSON.parse((await config(['show', '--json'])).stdout.toString())).toMatchObject({ key: '***' });
  await config(['unset', 'key']);
  expect(await stored()).toEqual({ 'base-url': 'https://gateway.example' });
  expect((await config(['show'])).stdout.toString()).not.toContain('key');
});

describe('a stored setting', () => {
  test('is used below the environment and the options', async () => {
    const keys: (string | undefined)[] = [];
    const url = await startStubServer(({ headers }, response) => {
      keys.push(headers.authorization);
      response.setHeader('content-type', 'application/json').end('{"object":"list","data":[]}');
    });
    await config(['set', 'key=stored']);
    await config(['set', `base-url=${url}`]);
    await runCommand(['models'], { env: { HOME: home } });
    await runCommand(['models'], { env: { HOME: home, UNIGATE_API_KEY: 'environment' } });
    await runCommand(['models', '--key', 'option'], { env: { HOME: home, UNIGATE_API_KEY: 'environment' } });
    await runCommand(['admin', 'users', 'list'], { env: { HOME: home } });
    expect(keys).toEqual([
      'Bearer stored',
      'Bearer environment',
      'Bearer option',
      'Bearer stored',
      // The currency of the table.
      'Bearer stored',
    ]);
  });

  test('is masked in errors', async () => {
    const url = await startStubServer((_, response) => {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { code: 'invalid_api_key', message: 'sk-secret is unknown.' } }));
    });
    await config(['set', 'key=sk-secret']);
    const { stderr } = await runCommand(['models', '--base-url', url], { env: { HOME: home } });
    expect(stderr).toContain('*** is unknown.');
    expect(stderr).not.toContain('secret');
  });

  test.each(['{', '[]', '{"key":1}', '{"other":"x"}'])(
    'of the invalid file %s is a usage error',
    async (text) => {
      await mkdir(join(home, '.config/unigate'), { recursive: true });
      await writeFile(file, text);
      const { code, stderr } = await runCommand(['models'], { env: { HOME: home } });
      expect([code, stderr]).toEqual([2, expect.stringContaining('is not a valid configuration file')]);
    },
  );

  test('of an unreadable file is reported without a raw system code', async () => {
    await mkdir(file, { recursive: true });
    const { code, stderr } = await runCommand(['models'], { env: { HOME: home } });
    expect([code, stderr]).toEqual([1, expect.stringContaining('it is a folder, not a file (EISDIR).')]);
  });
});
