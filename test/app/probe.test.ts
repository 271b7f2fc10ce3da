import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { root } from '../containers/files.ts';
import { loadCertificate } from '../mock/certificate.ts';
import { freePort } from '../support/free-port.ts';

let server: Server | undefined;
afterEach(() => {
  server?.close();
});

async function listen(started: Server, host = '127.0.0.1'): Promise<string> {
  server = started;
  await new Promise<void>((resolve) => started.listen(0, host, resolve));
  return String((started.address() as AddressInfo).port);
}

/** Runs the probe. Returns its exit code and its message. */
async function probe(env: Record<string, string>): Promise<[code: number, message: string]> {
  return promisify(execFile)(process.execPath, [`${root}/server/probe.ts`], { env }).then(
    ({ stderr }) => [0, stderr],
    ({ code, stderr }: { code: number; stderr: string }) => [code, stderr],
  );
}

const ok: RequestListener = ({ url }, response) =>
  void response.writeHead(url === '/healthz' ? 200 : 404).end();

describe('the health check of a container', () => {
  test.each(['127.0.0.1', '0.0.0.0', ''])('succeeds for a gateway that listens on %o', async (host) => {
    const port = await listen(createServer(ok), host || '127.0.0.1');
    expect(await probe({ HOST: host, PORT: port })).toEqual([0, '']);
  });

  test('succeeds with TLS, for a certificate of any host', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'unigate-probe-'));
    const { cert, key } = await loadCertificate(folder, 'gateway.example');
    const port = await listen(createSecureServer({ cert, key }, ok));
    expect(await probe({ PORT: port, TLS_CERT: '/run/secrets/certificate' })).toEqual([0, '']);
    await rm(folder, { recursive: true });
  });

  test('fails with the reason', async () => {
    const port = await listen(createServer((_request, response) => void response.writeHead(503).end()));
    expect(await probe({ PORT: port })).toEqual([
      1,
      `GET /healthz at 127.0.0.1, port ${port}: status 503.\n`,
    ]);
    const [code, message] = await probe({ PORT: String(await freePort()) });
    expect([code, message]).toEqual([1, expect.stringContaining('ECONNREFUSED')]);
  });

  test('fails if there is no response within 3 s', async () => {
    const port = await listen(createServer(() => {}));
    expect(await probe({ PORT: port })).toEqual([1, expect.stringContaining('no response within 3000 ms')]);
  });
});
