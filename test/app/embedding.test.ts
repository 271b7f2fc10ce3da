import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import express, { type Express } from 'express';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { attachSockets, createApp, type EmbeddedGateway, startGateway } from '../../server/index.ts';
import { generateKey } from '../../server/store/keys.ts';
import { createSnippetFolder } from '../docs/snippets.ts';
import { compiled, endsWithParent } from '../support/child-node.ts';
import { freePort } from '../support/free-port.ts';

const root = new URL('../../', import.meta.url);

describe('a gateway mounted in another Express application', () => {
  let gateway: EmbeddedGateway;
  let server: Server;
  let sockets: ReturnType<typeof attachSockets>;
  let folder: string;
  let base: string;
  const key = generateKey();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unigate-embedded-'));
    const parent: Express = express();
    server = createServer(parent);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    gateway = await startGateway({
      url: `${base}/ai`,
      environment: { DATA_DIR: folder, BOOTSTRAP_KEY: key, LOG_LEVEL: 'silent' },
    });
    parent.use((_request, response, next) => {
      response.setHeader('x-parent', 'yes');
      next();
    });
    parent.use('/ai', createApp(gateway));
    parent.use('/parsed', express.json(), createApp(gateway));
    parent.get('/own', (_request, response) => void response.send('own'));
    sockets = attachSockets(server, gateway, { path: '/ai' });
  });
  afterAll(async () => {
    await sockets.drain(0);
    server.close();
    server.closeAllConnections();
    await gateway.close();
    await rm(folder, { recursive: true, force: true });
  });

  const speak = (path: string) =>
    fetch(`${base}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'alpha3-tts-flash', input: 'Good morning.', voice: 'Aria' }),
    });

  test('responds below its path, after middleware of the parent', async () => {
    const answer = await speak('/ai/v1/audio/speech');
    expect([answer.status, answer.headers.get('x-parent')]).toEqual([200, 'yes']);
    expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(1_000);
  });

  test('reads query parameters', async () => {
    const list = await fetch(`${base}/ai/v1/videos?limit=1`, { headers: { authorization: `Bearer ${key}` } });
    expect([list.status, await list.json()]).toMatchObject([200, { object: 'list', data: [] }]);
    const refused = await fetch(`${base}/ai/v1/videos?limit=x`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { message: 'limit: must be integer.' } },
    ]);
  });

  test('links to files begin with the address of the mount', async () => {
    const answer = await fetch(`${base}/ai/api/v1/services/audio/tts/SpeechSynthesizer`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'voxa-v3-flash', input: { text: 'Good morning.', voice: 'voxanna' } }),
    });
    const { output } = (await answer.json()) as { output: { audio: { url: string } } };
    expect(output.audio.url).toMatch(new RegExp(`^${base}/ai/`));
    expect((await fetch(output.audio.url)).status).toBe(200);
  });

  test('an unknown path below it is a 404 in the error format, and other paths belong to the parent', async () => {
    const unknown = await fetch(`${base}/ai/nothing`);
    expect([unknown.status, await unknown.json()]).toMatchObject([
      404,
      { error: { code: 'path_not_found' } },
    ]);
    expect(await (await fetch(`${base}/own`)).text()).toBe('own');
    expect((await fetch(`${base}/v1/models`)).status).toBe(404);
  });

  test('a body that the parent has read is a 500, not a hang', async () => {
    const answer = await speak('/parsed/v1/audio/speech');
    expect([answer.status, await answer.json()]).toMatchObject([500, { error: { code: 'internal_error' } }]);
  });

  test('opens sockets below its path and leaves other paths to other listeners', async () => {
    const foreign = new WebSocketServer({ noServer: true });
    const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (request.url === '/chat')
        foreign.handleUpgrade(request, socket, head, (opened) => {
          opened.send('hello');
          opened.close();
        });
    };
    server.on('upgrade', upgrade);
    const ws = base.replace('http', 'ws');
    const own = new WebSocket(`${ws}/ai/v1/realtime?model=alpha3-tts-flash-realtime`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const [first] = (await once(own, 'message')) as [Buffer];
    expect(JSON.parse(first.toString())).toMatchObject({ type: 'session.created' });
    own.close();
    const [greeting] = (await once(new WebSocket(`${ws}/chat`), 'message')) as [Buffer];
    expect(greeting.toString()).toBe('hello');
    server.off('upgrade', upgrade);
    const refused = new WebSocket(`${ws}/v1/realtime`);
    const [error] = (await once(refused, 'error')) as [Error];
    expect(error.message).toContain('404');
  });
});

test('the example of the guide runs and stops', async () => {
  const guide = await readFile(new URL('openapi/guides/22-embedding.md', root), 'utf8');
  const [, code = ''] = /<!-- run: embedding -->\n+```ts\n(.*?)^```$/ms.exec(guide) ?? [];
  const port = await freePort();
  const { folder, remove } = await createSnippetFolder();
  await symlink(fileURLToPath(root), join(folder, 'node_modules/unigate'));
  await symlink(fileURLToPath(new URL('node_modules/express', root)), join(folder, 'node_modules/express'));
  await writeFile(join(folder, 'server.ts'), code.replaceAll('3000', String(port)));
  const child = spawn(process.execPath, [...endsWithParent, join(folder, 'server.ts')], {
    cwd: folder,
    env: { ...process.env, ...compiled, LOG_LEVEL: 'silent' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    await expect.poll(() => output).toContain('listening');
    const [, key = ''] = /^API key: (\S+)$/m.exec(output) ?? [];
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('My own page');
    const models = await fetch(`http://127.0.0.1:${port}/ai/v1/models`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(models.status).toBe(200);
    await models.arrayBuffer();
    child.kill('SIGTERM');
    const [exit] = (await once(child, 'exit')) as [number | null];
    expect(exit).toBe(0);
  } finally {
    child.kill('SIGKILL');
    await remove();
  }
});
