import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { oldNodeMessage } from '../../server/app/node-version.ts';
import { serve } from '../../server/app/serve.ts';
import { startFailure } from '../../server/app/start-failure.ts';
import { Storage } from '../../server/sandbox/storage.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { SettingsError } from '../../server/settings/settings-error.ts';
import { StoreUnavailable } from '../../server/store/availability.ts';
import { openStore } from '../../server/store/open-store.ts';
import type { Store } from '../../server/store/store.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { startOptions } from '../bench/gateway.ts';

const main = fileURLToPath(new URL('../../server/main.ts', import.meta.url));
let folder: string;
let store: Store;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unigate-start-'));
  store = await openStore({ dataDir: join(folder, 'taken') });
  await writeFile(join(folder, 'file'), 'no folder');
});
afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

async function startError(start: () => unknown): Promise<string> {
  try {
    await start();
    return 'started';
  } catch (error) {
    return startFailure(error);
  }
}

describe('a failed start reports the reason in one line', () => {
  test('for a data folder in use, and exits with 1', async () => {
    const inUse = `DATA_DIR ${join(folder, 'taken')} is in use by another gateway.`;
    // An attempt in the process that has the lock does not release it.
    expect(await startError(() => openStore({ dataDir: join(folder, 'taken') }))).toBe(inUse);
    const env = { PATH: process.env.PATH, PORT: '0', DATA_DIR: join(folder, 'taken') };
    const child = spawn(process.execPath, [main], { env });
    const [[code], stderr] = await Promise.all([once(child, 'close'), text(child.stderr)]);
    expect(stderr).toBe(`${inUse}\n`);
    expect(code).toBe(1);
  }, 60_000);

  test('for a data folder whose sandbox is in use', async () => {
    const dataDir = join(folder, 'shared');
    const storage = new Storage(join(dataDir, 'sandbox'));
    onTestFinished(() => storage.close());
    const settings = readSettings({ PORT: '0', DATA_DIR: dataDir });
    const failure = await startError(() => serve(settings, createLogger('silent')));
    expect(failure).toBe(`DATA_DIR: ${storage.folder} is in use by another gateway.`);
  });

  test('for a file in place of the data folder', async () => {
    const failure = await startError(() => openStore({ dataDir: join(folder, 'file', 'data') }));
    expect(failure).toMatch(/^DATA_DIR .* cannot be created: [^\n]*$/);
  });

  test('for a data folder or a database that belongs to another user', async () => {
    const dataDir = join(folder, 'owned');
    await chmod(folder, 0o755);
    await mkdir(dataDir, { mode: 0o500 });
    // Root has access to all files, so the gateway runs as another user then.
    const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const start = async () => {
      const child = spawn(process.execPath, [main], {
        ...user,
        env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: dataDir },
      });
      const [[code], stderr] = await Promise.all([once(child, 'close'), text(child.stderr)]);
      return { code, stderr };
    };
    const denied = (path: string) => ({
      code: 1,
      stderr: expect.stringMatching(
        new RegExp(
          `^DATA_DIR ${dataDir} cannot be used: user \\d+ has no write access to ${path}, which belongs to user ${process.getuid?.()}.\n$`,
        ),
      ),
    });
    expect(await start()).toEqual(denied(dataDir));
    await chmod(dataDir, 0o777);
    for (const name of ['lock.db', 'unigate.db']) await writeFile(join(dataDir, name), '', { mode: 0o400 });
    expect(await start()).toEqual(denied(join(dataDir, '(lock|unigate).db')));
    await rm(join(dataDir, 'lock.db'));
    await rm(join(dataDir, 'unigate.db'));
    await mkdir(join(dataDir, 'sandbox'), { mode: 0o500 });
    expect(await start()).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^DATA_DIR: user \d+ cannot write the database in \S+\/sandbox: unable to open database file\.\n$/,
      ),
    });
  }, 60_000);

  test.each(['postgres://user:secret@127.0.0.1:1/none', 'postgres://user:secret@none.invalid/none'])(
    'for an unreachable database, without its password: %s',
    async (databaseUrl) => {
      const failure = await startError(() => openStore({ dataDir: folder, databaseUrl }));
      expect(failure).toMatch(/^DATABASE_URL: the database does not answer: [^\n]*$/);
      expect(failure).not.toContain('secret');
    },
  );

  test('for a database file that cannot be opened', async () => {
    const dataDir = join(folder, 'blocked');
    await mkdir(join(dataDir, 'unigate.db'), { recursive: true });
    expect(await startError(() => openStore({ dataDir }))).toBe(
      'DATA_DIR: the database does not answer: unable to open database file.',
    );
  });

  test('for a database of several servers, with the reason of each', async () => {
    const databaseUrl = 'postgres://user:secret@127.0.0.1:1,127.0.0.1:2/none?target_session_attrs=read-write';
    const failure = await startError(() => openStore({ dataDir: folder, databaseUrl }));
    expect(failure).toMatch(
      /^DATABASE_URL: the database does not answer: [^\n]*127\.0\.0\.1:1; [^\n]*127\.0\.0\.1:2\.$/,
    );
    expect(failure).not.toContain('secret');
  });

  test('for an address that is in use or does not exist', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const listen = (host: string, at: number) => () => once(createServer().listen(at, host), 'listening');
    expect(await startError(listen('127.0.0.1', port))).toBe(
      `PORT: 127.0.0.1:${port} is in use; stop the other program or set another PORT.`,
    );
    expect(await startError(listen('192.0.2.1', 0))).toMatch(/^HOST and PORT: cannot listen there: [^\n]*$/);
    server.close();
  });

  test('for a Node.js version that is too old, and exits with 1', async () => {
    const versions = { ...process.versions, node: '24.17.9' };
    const old = `Object.defineProperty(process, 'versions', { value: ${JSON.stringify(versions)} })`;
    const preload = `data:text/javascript,${encodeURIComponent(old)}`;
    const child = spawn(process.execPath, ['--import', preload, main], { env: { PATH: process.env.PATH } });
    const [[code], stderr] = await Promise.all([once(child, 'close'), text(child.stderr)]);
    expect([code, stderr]).toEqual([1, 'Node.js 24.17.9 is too old: the gateway needs >=24.18.0.\n']);
  }, 60_000);

  test('for an invalid certificate', async () => {
    const failure = await startError(() => createServer({ cert: 'no certificate', key: 'no key' }));
    expect(failure).toMatch(/^TLS_CERT and TLS_KEY: [^\n]*$/);
  });

  test.each([
    ['24.18.0', true],
    ['24.18.1', true],
    ['26.0.0', true],
    ['24.9.9', false],
    ['22.30.0', false],
  ])('Node.js %s is recent enough: %s', (version, isRecent) => {
    expect(oldNodeMessage(version, '>=24.18.0') === undefined).toBe(isRecent);
  });

  test('for invalid settings; a bug keeps its stack trace', async () => {
    expect(startFailure(new SettingsError('PORT must be a number.'))).toBe('PORT must be a number.');
    expect(startFailure(new TypeError('x is not a function'))).toContain('failed-start.test.ts');
    expect(startFailure(new StoreUnavailable(new Error('busy')))).toBe('The database does not answer: busy.');
  });
});

test('a later start loads no TypeScript compiler', async () => {
  const report =
    'process.on("exit", () => console.log(process.moduleLoadList.some((id) => id.includes("amaro"))))';
  const options = [...startOptions, '--import', `data:text/javascript,${encodeURIComponent(report)}`];
  const env = { PATH: process.env.PATH, PORT: 'x', NODE_COMPILE_CACHE: join(folder, 'compiled') };
  const start = async () => {
    const child = spawn(process.execPath, [...options, main], { env });
    const [output, problem] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(problem).toContain('PORT');
    return output;
  };
  expect(await start()).toBe('true\n');
  expect(await start()).toBe('false\n');
}, 60_000);
