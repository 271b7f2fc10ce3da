import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { endsWithParent } from '../support/child-node.ts';
import { channelAt } from './configured-gateway.ts';

const main = fileURLToPath(new URL('../../server/main.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'unigate-sighup-'));
const key = 'sk-bootstrap-of-this-test';
const file = join(folder, 'gateway.yaml');
let child: ChildProcess | undefined;
let output = '';

afterEach(async () => {
  if (child?.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const write = (configuration: object) => writeFileSync(file, JSON.stringify(configuration, null, 1));

/** Starts the gateway and returns its URL. */
async function start(environment: Record<string, string>): Promise<string> {
  output = '';
  const fixed = { HOST: '127.0.0.1', PORT: '0', DATA_DIR: join(folder, 'data'), BOOTSTRAP_KEY: key };
  const unset = {
    CONFIG: '',
    DATABASE_URL: '',
    PUBLIC_URL: '',
    LOG_LEVEL: 'info',
    TLS_CERT: '',
    TLS_KEY: '',
  };
  const env = { ...process.env, ...fixed, ...unset, ...environment };
  const started = spawn(process.execPath, [...endsWithParent, main], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env,
  });
  child = started;
  started.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  for await (const line of createInterface({ input: started.stdout })) {
    const url = /^listening on (\S+)$/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`it ended before it listened: ${output}`);
}

const sendHangUp = async (message: string, times: number) => {
  child?.kill('SIGHUP');
  await vi.waitFor(() => expect(output.split(message)).toHaveLength(times + 1), { timeout: 20_000 });
};

test('SIGHUP reloads the file; an invalid one is logged with its line and changes nothing', async () => {
  write({ prices: { '*': 1 }, channels: [channelAt('http://127.0.0.1:9', { models: ['voxa-v2'] })] });
  const url = await start({ CONFIG: file });
  const models = async () => {
    const reply = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    return ((await reply.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
  };
  expect(await models()).toEqual(['voxa-v2']);
  write({
    prices: { '*': 1 },
    channels: [channelAt('http://127.0.0.1:9', { models: ['voxa-v3-plus'], key: 'another-secret' })],
  });
  await sendHangUp('the configuration was reloaded', 1);
  expect(await models()).toEqual(['voxa-v3-plus']);
  writeFileSync(file, 'channels: []\nprizes: {}\n');
  await sendHangUp('was not applied', 1);
  expect(output).toContain(`${file}:2: prizes is not a known setting.`);
  expect(await models()).toEqual(['voxa-v3-plus']);
  expect(output).not.toContain('another-secret');
  child?.kill('SIGTERM');
  expect(await once(child as ChildProcess, 'close')).toEqual([0, null]);
}, 60_000);

test('without a file to reload, SIGHUP ends the process', async () => {
  await start({});
  child?.kill('SIGHUP');
  expect(await once(child as ChildProcess, 'close')).toEqual([null, 'SIGHUP']);
}, 60_000);

test('new connections use a renewed certificate', async () => {
  const [certificate, privateKey] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  const renew = (name: string) => {
    const made = { certificate: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) };
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
      ].concat(['-subj', `/CN=${name}`, '-keyout', made.key, '-out', made.certificate]),
      { stdio: 'pipe' },
    );
    cpSync(made.certificate, certificate);
    return () => cpSync(made.key, privateKey);
  };
  renew('first')();
  const url = new URL(await start({ TLS_CERT: certificate, TLS_KEY: privateKey }));
  const shown = async () => {
    const socket = connect({ host: url.hostname, port: Number(url.port), rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return subject.CN;
  };
  expect(await shown()).toBe('first');
  const withKey = renew('second');
  // Only the certificate is replaced, so it does not match the key.
  await sendHangUp('was not applied', 1);
  expect(await shown()).toBe('first');
  withKey();
  await sendHangUp('the configuration was reloaded', 1);
  expect(await shown()).toBe('second');
  expect(output).not.toContain(readFileSync(privateKey, 'utf8').split('\n')[1]);
}, 60_000);
