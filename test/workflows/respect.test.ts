import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findRoute } from '../../server/http/routes.ts';
import { documented } from '../conformance/contract/documented.ts';
import { schemaProblems } from '../conformance/contract/schemas.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'openapi/workflows');

/** The part of a HAR entry that the tests read. */
interface Entry {
  request: { url: string; method: string };
  response: { status: number; content: { mimeType: string; text?: string } };
}

let target: TestGateway;
let receiver: Server;
let receiverUrl: string;
let files: string;
beforeAll(async () => {
  target = await startTestGateway({ callbacks: { allowPrivate: true, secret: undefined } });
  files = await mkdtemp(join(tmpdir(), 'unigate-respect-'));
  let last: unknown;
  receiver = createServer((request, response) => {
    if (request.method === 'POST') {
      void json(request).then((delivery) => {
        last = delivery;
        response.writeHead(204).end();
      });
      return;
    }
    response.writeHead(last === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(last ?? {}));
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});
afterAll(async () => {
  receiver.close();
  await target.close();
  await rm(files, { recursive: true });
});

/** Runs a workflow and returns its exchanges with the gateway. */
async function runWorkflow(
  name: string,
  key: string,
): Promise<{ code: number; output: string; entries: Entry[] }> {
  const har = join(files, `${name}.har`);
  const inputs = { key, name: 'workflow-1', receiver: `${receiverUrl}/deliveries` };
  const { code, output } = await promisify(execFile)(
    join(root, 'node_modules/.bin/redocly'),
    [
      // The runner's schema check misreads conditional schemas and rejects binary bodies.
      'respect',
      join(folder, name),
      '--severity=SCHEMA_CHECK=off',
      `--har-output=${har}`,
      `--server=gateway=${target.url}`,
      `--server=receiver=${receiverUrl}`,
      ...Object.entries(inputs).flatMap(([input, value]) => ['--input', `${input}=${value}`]),
    ],
    { cwd: root, maxBuffer: 1e8 },
  ).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      output: error.stdout + error.stderr,
    }),
  );
  const { log } = JSON.parse(await readFile(har, 'utf8')) as { log: { entries: Entry[] } };
  return { code, output, entries: log.entries.filter(({ request }) => request.url.startsWith(target.url)) };
}

const workflows = (await readdir(folder)).filter((name) => name.endsWith('.arazzo.yaml')).sort();

test('the folder contains the main workflows', () => {
  expect(workflows).toEqual(['key', 'music', 'speech', 'video'].map((name) => `${name}.arazzo.yaml`));
});

test.each(workflows)(
  '%s succeeds, and every response matches the contract',
  { timeout: 180_000 },
  async (name) => {
    const { code, output, entries } = await runWorkflow(name, target.key);
    expect(code, output).toBe(0);
    expect(entries.length).toBeGreaterThan(0);
    for (const { request, response } of entries) {
      const { pathname } = new URL(request.url);
      const id = findRoute(pathname)?.methods.get(request.method.toLowerCase())?.operation.id;
      if (id === undefined) throw new Error(`${request.method} ${pathname} is not an operation`);
      const expected = documented(id).responses.find(({ status }) => status === response.status);
      const mediaType = response.content.mimeType.split(';')[0];
      const media = expected?.content.find((one) => one.mediaType === mediaType);
      expect(media, `${id} ${response.status} ${mediaType}`).toBeDefined();
      if (media === undefined || mediaType !== 'application/json') continue;
      expect(schemaProblems(media, JSON.parse(response.content.text ?? '')), id).toEqual([]);
    }
  },
);

test('exits with 1 when a step fails', { timeout: 180_000 }, async () => {
  const { code, output } = await runWorkflow('speech.arazzo.yaml', 'sk-unknown');
  expect(code).toBe(1);
  expect(output).toContain('$statusCode == 200');
});
