import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launch, newPage } from '../docs/chromium.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { type InstalledPackage, installClient } from '../support/installed-package.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const readme = await readFile(join(root, 'client/README.md'), 'utf8');

/** Functions of a page that use the client. The tests call them by name. */
const program = `import { APIError, RealtimeError, Unigate, UnigateError } from '@unigate/client';

const settings = JSON.parse(document.body.dataset.gateway ?? '') as { baseUrl: string; apiKey: string };
const client = new Unigate(settings);
const latin = (bytes: Uint8Array, length: number) => String.fromCharCode(...bytes.subarray(0, length));
const nameOf = (error: unknown) => (error instanceof UnigateError ? error.message : 'another error');

const tried = {
  async speech() {
    const audio = await client.speech.create({ model: 'alpha3-tts-flash', voice: 'Aria', input: 'Good morning.' });
    return [audio.contentType, latin(await audio.bytes(), 4), typeof audio.requestId];
  },
  async stream() {
    const body = { model: 'voxa-v3-flash', voice: 'voxanna', input: 'One. Two.', stream: true } as const;
    let bytes = 0;
    for await (const chunk of await client.speech.create(body)) bytes += chunk.byteLength;
    return bytes;
  },
  async events() {
    const body = { model: 'voxa-v3-flash', voice: 'voxanna', input: 'One. Two.' };
    const events = await Array.fromAsync(client.speech.events(body));
    return [events.length, events.at(-1)?.usage?.characters];
  },
  async realtime() {
    const session = await client.realtime('alpha3-tts-flash-realtime');
    await session.update({ voice: 'Aria', response_format: 'pcm', sample_rate: 24_000 });
    session.append('Good morning.');
    session.finish();
    const chunks = await Array.fromAsync(session.audio());
    return [chunks.reduce((sum, { byteLength }) => sum + byteLength, 0), await session.close()];
  },
  async video() {
    const body = { model: 'gamma3.0-video-prime', prompt: 'A boat.', seconds: '2', size: '480P' } as const;
    const video = await client.videos.createAndWait(body, { pollIntervalMs: 50 });
    const whole = await (await client.videos.download(video.id)).bytes();
    const part = await client.videos.download(video.id, { range: 'bytes=4-7' });
    return [whole.byteLength > 1000, latin(await part.bytes(), 4)];
  },
  async wrongKey() {
    const stranger = new Unigate({ ...settings, apiKey: 'unknown' });
    const error = await stranger.models.list().catch((reason: unknown) => reason);
    return error instanceof APIError ? [error.status, error.code, typeof error.requestId] : String(error);
  },
  async refusedSocket() {
    const stranger = new Unigate({ ...settings, apiKey: 'unknown' });
    const session = await stranger.realtime('alpha3-tts-flash-realtime');
    const error = await session.update({ voice: 'Aria' }).catch((reason: unknown) => reason);
    return error instanceof RealtimeError ? error.code : String(error);
  },
  inference: () => client.inference('voxa-v3-flash').catch(nameOf),
  downloadTo: () => client.videos.downloadTo('task_1', 'boat.mp4').catch(nameOf),
};
Object.assign(globalThis, { tried });
`;

/** Bundles the browser entry of the installed package, as a front-end project does. */
async function bundle(project: string, file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(project, file)],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installClient();
});
afterAll(() => installed.remove());

/** Returns a size in the README, in bytes. */
const documented = (pattern: RegExp) => Number(pattern.exec(readme)?.[1]) * 1000;

describe('the bundle', { timeout: 60_000 }, () => {
  test('contains no Node code and is as small as the README states', async () => {
    await writeFile(join(installed.project, 'whole.ts'), `export * from '@unigate/client';\n`);
    const whole = await bundle(installed.project, 'whole.ts');
    expect(whole).not.toMatch(/(from|import|import\(|require\()\s*["']/);
    expect(whole.length).toBeLessThanOrEqual(documented(/minified it has at most (\d+) KB/));
    expect(gzipSync(whole).length).toBeLessThanOrEqual(documented(/(\d+) KB gzipped/));
    expect((await stat(installed.tarball)).size).toBeLessThanOrEqual(
      documented(/package's tarball has (\d+) KB/),
    );
  });

  test('has types that work without the types of Node', async () => {
    const [, snippet = ''] = /## In a browser\n[^#]*?```ts\n(.*?)```/s.exec(readme) ?? [];
    expect(snippet).toContain('new Unigate');
    await writeFile(join(installed.project, 'snippet.ts'), snippet);
    await writeFile(join(installed.project, 'page.ts'), program);
    const compilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      module: 'esnext',
      moduleResolution: 'bundler',
      target: 'esnext',
      lib: ['esnext', 'dom', 'dom.iterable', 'dom.asynciterable'],
      types: [],
    };
    const project = join(installed.project, 'tsconfig.json');
    await writeFile(project, JSON.stringify({ compilerOptions, files: ['page.ts', 'snippet.ts'] }));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [tsc, '-p', project]).catch((e: { stdout: string }) => e);
    expect(stdout).toBe('');
  });
});

describe.skipIf(!hasChromium)('in a browser, on a page of another origin', { timeout: 60_000 }, () => {
  let target: TestGateway;
  let browser: Browser;
  let site: Server;
  let page: Page;
  beforeAll(async () => {
    await writeFile(join(installed.project, 'page.ts'), program);
    [target, browser] = await Promise.all([startTestGateway(), launch()]);
    const script = await bundle(installed.project, 'page.ts');
    const settings = JSON.stringify({ baseUrl: target.url, apiKey: target.key });
    const html = `<!doctype html><body data-gateway='${settings}'><script type="module" src="/page.js"></script>`;
    site = createServer((request, response) => {
      const isScript = request.url === '/page.js';
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      response.end(isScript ? script : html);
    }).listen(0, '127.0.0.1');
    await once(site, 'listening');
    page = await newPage(browser);
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    await page.waitForFunction('globalThis.tried !== undefined');
  });
  afterAll(async () => {
    await browser?.close();
    site?.close();
    await target?.close();
  });

  const tried = (name: string) => page.evaluate(`tried.${name}()`);

  test('speech arrives as bytes, complete and streamed', async () => {
    expect(await tried('speech')).toEqual(['audio/wav', 'RIFF', 'string']);
    expect(await tried('stream')).toBeGreaterThan(1000);
  });

  test('events arrive one by one, with the usage', async () => {
    expect(await tried('events')).toEqual([expect.any(Number), 9]);
  });

  test('a realtime session speaks, with the key as a subprotocol', async () => {
    const opened = page.waitForEvent('websocket');
    expect(await tried('realtime')).toEqual([expect.any(Number), { characters: 13 }]);
    expect((await opened).url()).toBe(
      `${target.url.replace('http', 'ws')}/api-ws/v1/realtime?model=alpha3-tts-flash-realtime`,
    );
  });

  test('a video is created, awaited and downloaded, complete and in part', async () => {
    expect(await tried('video')).toEqual([true, 'ftyp']);
  });

  test('an error has status, code and request id', async () => {
    expect(await tried('wrongKey')).toEqual([401, 'invalid_api_key', 'string']);
    expect(await tried('refusedSocket')).toBe('invalid_api_key');
  });

  test('methods that require Node throw an error', async () => {
    expect(await tried('inference')).toMatch(/use realtime in a browser/);
    expect(await tried('downloadTo')).toMatch(/downloadTo requires Node/);
  });
});
