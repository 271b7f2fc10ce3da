import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inspectWav } from '../sandbox/audio-inspection.ts';
import { startTestGateway } from '../support/gateway.ts';
import { commandsOf } from '../support/readme-commands.ts';

const root = new URL('../../', import.meta.url);
let folder: string;

// A checkout made of symbolic links, so that the commands do not write into the real one.
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unigate-day-'));
  for (const name of await readdir(root)) {
    if (!name.startsWith('.')) await symlink(join(root.pathname, name), join(folder, name));
  }
});
afterEach(() => rm(folder, { recursive: true }));

/** Runs commands in one shell, which stops at the first failure. */
async function run(commands: string, env: Record<string, string>) {
  const path = [join(root.pathname, 'node_modules/.bin'), process.env.PATH].join(delimiter);
  const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', commands], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: path, HOME: folder, npm_config_update_notifier: 'false', ...env },
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

// Each command starts a process of npm and one of Node.
test('the commands of the keys and billing guides run in a checkout', { timeout: 180_000 }, async () => {
  const [createKey = '', speak = '', revoke = ''] = await commandsOf(
    new URL('openapi/guides/17-keys-and-quota.md', root),
    'create a user and a key',
  );
  const gateway = await startTestGateway({ bootstrapKey: 'my-first-key-123' });
  try {
    const env = { UNIGATE_BASE_URL: gateway.url };
    const whole = `${createKey}\necho "KEY is $KEY"\n${speak}\n${revoke}`;
    const { code, stdout, stderr } = await run(whole, env);
    const key = /^KEY is (sk-\S+)$/m.exec(stdout)?.[1];
    expect({ code, key, stderr }).toEqual({
      code: 1,
      key: expect.any(String),
      stderr: expect.stringMatching(
        /^key 2\nIts quota is 0: .*\nunigate: invalid_api_key \(401\): .*\[request req_\w+\]\n$/,
      ),
    });
    expect(stdout).toMatch(/^left +1000$/m);

    const { sampleRate, channels, seconds } = inspectWav(await readFile(join(folder, 'day.wav')));
    expect({ sampleRate, channels }).toEqual({ sampleRate: 24_000, channels: 1 });
    expect(seconds).toBeGreaterThan(1);
    expect(seconds).toBeLessThan(6);
    expect(stdout).toMatch(/ laptop +alpha3-tts-flash .* req_\w+\n/);
    expect(await readdir(folder)).not.toContain('night.wav');

    const billing = new URL('openapi/guides/18-billing.md', root);
    for (const [name, output] of [
      ['audit and export', /alpha3-tts-flash/],
      ['price check', /admin/],
      ['price explanation', /settlement: 4 seconds x 1 x 1 = 4/],
      ['budgets', /monthly/],
    ] as const) {
      const [commands = ''] = await commandsOf(billing, name);
      const result = await run(commands, { ...env, UNIGATE_API_KEY: 'my-first-key-123' });
      expect(result, result.stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(output) });
    }
    expect(await readFile(join(folder, 'errors.csv'), 'utf8')).toMatch(/^\w+,/);
  } finally {
    await gateway.close();
  }
});
