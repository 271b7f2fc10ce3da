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
let said = '';

afterEach(async () => {
  if (child?.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const write = (configuration: object) => writeFileSync(file, JSON.stringify(configuration, null, 1));

/** Starts the program, and gives its address. */
async function start(environment: Record<string, string>): Promise<string> {
  said = '';
  const ours = { HOST: '127.0.0.1', PORT: '0', DATA_DIR: join(folder, 'data'), BOOTSTRAP_KEY: key };
  const unset = {
    CONFIG: '',
    DATABASE_URL: '',
    PUBLIC_URL: '',
    LOG_LEVEL: 'info',
    TLS_CERT: '',
    TLS_KEY: '',
  };
  const env = { ...process.env, ...ours, ...unset, ...environment };
  const started = spawn(process.execPath, [...endsWithParent, main], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env,
  });
  child = started;
  started.stderr.on('data', (piece: Buffer) => {
    said += piece.toString();
  });
  for await (const line of createInterface({ input: started.stdout })) {
    const url = /^listening on (\S+)$/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`it ended before it listened: ${said}`);
}

const hangUp = async (words: string, times: number) => {
  child?.kill('SIGHUP');
  await vi.waitFor(() => expect(said.split(words)).toHaveLength(times + 1), { timeout: 20_000 });
};

test('SIGHUP reads the file again; one that is wrong is told with its line, and changes nothing', async () => {
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
  await hangUp('the configuration was reloaded', 1);
  expect(await models()).toEqual(['voxa-v3-plus']);
  writeFileSync(file, 'channels: []\nprizes: {}\n');
  await hangUp('was not applied', 1);
  expect(said).toContain(`${file}:2: prizes is not a known setting.`);
  expect(await models()).toEqual(['voxa-v3-plus']);
  expect(said).not.toContain('another-secret');
  child?.kill('SIGTERM');
  expect(await once(child as ChildProcess, 'close')).toEqual([0, null]);
}, 60_000);

test('without a file to read it ends the program, as when a terminal is closed', async () => {
  await start({});
  child?.kill('SIGHUP');
  expect(await once(child as ChildProcess, 'close')).toEqual([null, 'SIGHUP']);
}, 60_000);

test('a renewed certificate is shown to whoever connects from then on', async () => {
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
  // Half of it is there: the pair does not fit.
  await hangUp('was not applied', 1);
  expect(await shown()).toBe('first');
  withKey();
  await hangUp('the configuration was reloaded', 1);
  expect(await shown()).toBe('second');
  expect(said).not.toContain(readFileSync(privateKey, 'utf8').split('\n')[1]);
}, 60_000);
