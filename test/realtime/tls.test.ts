import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSettings } from '../../server/settings/settings.ts';
import { connect } from '../support/socket-client.ts';
import { type SocketUpstream, startSocketUpstream } from '../support/socket-upstream.ts';
import { channelTo } from '../support/upstream.ts';
import { realtimeScript } from './realtime-script.ts';
import { type SocketGateway, startSocketGateway } from './start.ts';

let folder: string;
let upstream: SocketUpstream;
let target: SocketGateway;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'unigate-tls-'));
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
      .concat(['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'])
      .concat(['-keyout', key, '-out', certificate]),
    { stdio: 'pipe' },
  );
  upstream = await startSocketUpstream(realtimeScript());
  const { tls } = readSettings({ TLS_CERT: certificate, TLS_KEY: key });
  target = await startSocketGateway({ tls, channels: [channelTo(upstream.url)] });
});
afterAll(async () => {
  await target.close();
  await upstream.close();
  rmSync(folder, { recursive: true });
});

test('a socket over TLS', async () => {
  const ca = readFileSync(join(folder, 'certificate.pem'), 'utf8');
  expect(target.url).toMatch(/^https:/);
  const client = await connect(`${target.url}/v1/realtime?model=alpha3-tts-flash-realtime`, {
    ca,
    protocols: ['realtime', `openai-insecure-api-key.${target.key}`],
  });
  await client.next(({ type }) => type === 'session.created');
  client.send({ event_id: 'a', type: 'session.finish' });
  expect((await client.closed).code).toBe(1000);
  await expect(connect(target.url, { key: target.key })).rejects.toThrow(/self-signed/);
});
