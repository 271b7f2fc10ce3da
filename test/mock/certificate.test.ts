import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { get, request as open } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { loadCertificate } from './certificate.ts';
import { startMock } from './server.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unigate-certificate-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const day = 24 * 60 * 60 * 1000;

test('a certificate is for the loopback names and the host, and its key is private', async () => {
  const { cert, file } = await loadCertificate(folder, 'mock.test');
  const certificate = new X509Certificate(cert);
  expect(certificate.checkHost('localhost')).toBe('localhost');
  expect(certificate.checkHost('mock.test')).toBe('mock.test');
  expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(await readFile(file, 'utf8')).toBe(cert);
  expect((await stat(join(folder, 'key.pem'))).mode & 0o077).toBe(0);
});

test('a certificate is used again until it expires or lacks the host', async () => {
  const own = join(folder, 'again');
  const first = await loadCertificate(own, '127.0.0.1');
  expect((await loadCertificate(own, '127.0.0.1')).fingerprint).toBe(first.fingerprint);
  const otherHost = await loadCertificate(own, 'other.test');
  expect(otherHost.fingerprint).not.toBe(first.fingerprint);
  const late = Date.now() + 364.5 * day;
  expect((await loadCertificate(own, 'other.test', late)).fingerprint).not.toBe(otherHost.fingerprint);
});

test('a client that trusts the certificate uses https and wss', async () => {
  const tls = await loadCertificate(folder, '127.0.0.1');
  const mock = await startMock({ tls });
  expect(mock.url).toMatch(/^https:/);
  const request = get(`${mock.url}/healthz`, { ca: tls.cert });
  const [response] = await once(request, 'response');
  expect(response.statusCode).toBe(200);
  expect((response.socket as TLSSocket).getPeerCertificate().fingerprint256).toBe(tls.fingerprint);
  const url = `${mock.url.replace('https', 'wss')}/v1/realtime?model=alpha3-tts-flash-realtime`;
  const socket = new WebSocket(url, { ca: tls.cert, headers: { authorization: 'Bearer any' } });
  const [first] = (await once(socket, 'message')) as [Buffer];
  expect(first.toString()).toContain('session.created');
  await expect(fetch(`${mock.url}/healthz`)).rejects.toThrow();
  socket.terminate();
  await mock.close();
});

test('links of a mock with TLS use https', async () => {
  const tls = await loadCertificate(folder, '127.0.0.1');
  const mock = await startMock({ tls });
  const request = open(`${mock.url}/api/v1/services/audio/tts/SpeechSynthesizer`, {
    ca: tls.cert,
    method: 'POST',
    headers: { authorization: 'Bearer any', 'content-type': 'application/json' },
  });
  request.end(JSON.stringify({ model: 'voxa-v3-flash', input: { text: 'Hello.', voice: 'voxanna' } }));
  const [response] = await once(request, 'response');
  const body = (await response.toArray()).join('');
  expect(body).toContain(`"url":"${mock.url}/mock-media/`);
  await mock.close();
});

test('the command prints the fingerprint and how to trust the certificate', async () => {
  const program = fileURLToPath(new URL('./main.ts', import.meta.url));
  const child = spawn(process.execPath, [program, '--port', '0', '--tls']);
  let output = '';
  for await (const chunk of child.stdout) {
    output += String(chunk);
    if (output.includes('browsers')) break;
  }
  child.kill('SIGKILL');
  const [, file = ''] = /NODE_EXTRA_CA_CERTS=(\S+)/.exec(output) ?? [];
  const { fingerprint256 } = new X509Certificate(await readFile(file));
  expect(output).toMatch(/^mock listening on https:/);
  expect(output).toContain(`SHA-256 fingerprint: ${fingerprint256}`);
});
