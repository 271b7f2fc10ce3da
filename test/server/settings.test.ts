import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { serverUrls } from '../../server/settings/database.ts';
import { readSettings } from '../../server/settings/settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'unigate-settings-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const withFile = (yaml: string, environment: Record<string, string> = {}) => {
  files += 1;
  const path = join(folder, `${files}.yaml`);
  writeFileSync(path, yaml);
  return { path, read: () => readSettings({ ...environment, CONFIG: path }) };
};

test('without any configuration the sandbox serves every model to the group default', () => {
  expect(readSettings({})).toMatchObject({
    host: '127.0.0.1',
    port: 8080,
    dataDir: '.data',
    sandbox: true,
    sandboxTaskMs: undefined,
    sandboxDraft: false,
    sandboxSongSeconds: undefined,
    groups: { default: { models: ['*'], ratio: 1 } },
    prices: { '*': 1 },
    channels: [],
    limits: { bodyMb: 64, requestsPerMinute: 0, socketsPerKey: 0 },
    keysPerKey: 100,
    speechMs: 1_800_000,
    database: {
      connections: 10,
      connectTimeoutMs: 10_000,
      statementTimeoutMs: 15_000,
      idleInTransactionTimeoutMs: 15_000,
    },
  });
});

test('WORKERS is a number or auto, and several workers need a PostgreSQL database', () => {
  const workers = (text: string, DATABASE_URL = 'postgres://db/x') =>
    readSettings({ WORKERS: text, DATABASE_URL }).workers;
  expect([workers(''), workers('1'), workers('16'), workers('256')]).toEqual([1, 1, 16, 256]);
  expect(workers('auto')).toBe(availableParallelism());
  expect([workers('auto', ''), workers('1', '')]).toEqual([1, 1]);
  expect(() => workers('2', '')).toThrow(
    'WORKERS: 2 workers need DATABASE_URL, because the embedded database in DATA_DIR belongs to one process.',
  );
  for (const text of ['0', '-1', '1.5', '257', 'many', '1e2', ' 2'])
    expect(() => workers(text)).toThrow(`WORKERS must be auto or a whole number from 1 to 256, not ${text}.`);
});

test('the gateway stops without a delay by default', () => {
  expect(readSettings({}).stopDelayMs).toBe(0);
  expect(withFile('stop: { delay_seconds: 2.5 }\n').read().stopDelayMs).toBe(2_500);
  expect(withFile('stop: { delay_seconds: 61 }\n').read).toThrow('stop.delay_seconds must be <= 60.');
});

test('DATABASE_URL names one server or several', () => {
  const of = (url: string) => serverUrls('DATABASE_URL', url);
  expect(of('postgres://u:p%40@a:5432,b,[::1]:5433/db?target_session_attrs=read-write')).toEqual([
    'postgres://u:p%40@a:5432/db?target_session_attrs=read-write',
    'postgres://u:p%40@b/db?target_session_attrs=read-write',
    'postgres://u:p%40@[::1]:5433/db?target_session_attrs=read-write',
  ]);
  for (const url of ['postgresql://a/db', 'postgres://u@/db?host=/run/postgresql', 'postgres:///db'])
    expect(of(url)).toEqual([url]);
});

test('the file configures the database connections', () => {
  const { read } = withFile(
    'database: { connections: 40, connect_timeout_ms: 2000, statement_timeout_ms: 3000, idle_in_transaction_timeout_ms: 4000 }\n',
  );
  expect(read().database).toEqual({
    connections: 40,
    connectTimeoutMs: 2_000,
    statementTimeoutMs: 3_000,
    idleInTransactionTimeoutMs: 4_000,
  });
});

test('a complete file is read, with secrets from the environment and from files', () => {
  const keyFile = join(folder, 'key');
  writeFileSync(keyFile, 'from-file\n');
  const { read } = withFile(
    `groups:
  default: { models: ["*"] }
  trial: { models: ["alpha3-*"], ratio: 2.5 }
channels:
  - name: eu
    protocol: native
    base_url: https://upstream.example/prefix/
    key: \${EU_KEY}
    models: ["alpha3-*", { id: voxa-v2, upstream: other-v2 }]
    groups: [trial]
    priority: 10
    weight: 3
    profile: { headers: { X-Native-SSE: X-Other-SSE }, paths: { /api-ws/v1: /ws/v1 } }
  - { name: us, protocol: native, base_url: "http://127.0.0.1:1", key_file: ${keyFile}, models: ["*"], private_files: true, relay_media: true }
`,
    { EU_KEY: 'from-environment' },
  );
  const settings = read();
  expect(settings.sandbox).toBe(false);
  const sandboxSettings = withFile('sandbox: { task_seconds: 2.5, draft: true }\n').read();
  expect([sandboxSettings.sandbox, sandboxSettings.sandboxTaskMs, sandboxSettings.sandboxDraft]).toEqual([
    true,
    2_500,
    true,
  ]);
  expect(withFile('sandbox: { song_seconds: 5 }\n').read().sandboxSongSeconds).toBe(5);
  expect(withFile('limits: { speech_seconds: 90 }\n').read().speechMs).toBe(90_000);
  expect(withFile('limits: { speech_seconds: 0 }\n').read).toThrow(/:1: limits.speech_seconds /);
  expect(settings.channels[0]).toEqual({
    name: 'eu',
    protocol: 'native',
    baseUrl: 'https://upstream.example/prefix',
    wsUrl: 'wss://upstream.example/prefix',
    key: 'from-environment',
    models: [
      { id: 'alpha3-*', upstream: undefined },
      { id: 'voxa-v2', upstream: 'other-v2' },
    ],
    groups: ['trial'],
    priority: 10,
    weight: 3,
    voices: undefined,
    profile: { headers: { 'X-Native-SSE': 'X-Other-SSE' }, paths: { '/api-ws/v1': '/ws/v1' } },
    privateFiles: false,
    relayMedia: false,
  });
  expect(settings.channels[1]).toMatchObject({ key: 'from-file', privateFiles: true, relayMedia: true });
});

test('display is a currency with a rate, also of a group', () => {
  const { display, groups } = withFile(`display: { quota_per_unit: 500000, currency: EUR }
groups:
  default: { models: ["*"] }
  tokyo: { models: ["*"], display: { quota_per_unit: 0.5, currency: JPY } }
`).read();
  expect(display).toEqual({ quotaPerUnit: 500_000, currency: 'EUR' });
  expect(groups.default?.display).toBeUndefined();
  expect(groups.tokyo?.display).toEqual({ quotaPerUnit: 0.5, currency: 'JPY' });
  const read = (yaml: string) => withFile(`prices: { "*": 1 }\n${yaml}\n`).read;
  expect(read('display: { quota_per_unit: 0, currency: EUR }')).toThrow(
    /:2: display.quota_per_unit must be > 0\.$/,
  );
  expect(read('display: { quota_per_unit: .inf, currency: EUR }')).toThrow(
    /:2: display.quota_per_unit must be /,
  );
  expect(read('display: { quota_per_unit: 1.5e12, currency: EUR }')).toThrow(
    /:2: display.quota_per_unit must be <= 1000000000000\.$/,
  );
  expect(read('display: { quota_per_unit: 5 }')).toThrow(
    /:2: display must have required property 'currency'\.$/,
  );
  expect(read('display: { quota_per_unit: 5, currency: eur }')).toThrow(
    /:2: display.currency must match pattern /,
  );
  expect(read('display:\n  quota_per_unit: 5\n  currency: ABC')).toThrow(
    /:4: display.currency: ABC is no ISO 4217 code of a currency, such as EUR\.$/,
  );
  expect(read('groups:\n  a:\n    models: []\n    display: { quota_per_unit: 5, currency: ABC }')).toThrow(
    /:5: groups.a.display.currency: ABC is no /,
  );
});

describe('the revision', () => {
  const file = (key: string, price = 1) => `prices: { "*": ${price}, voxa-v2: 3 }
callbacks: { secret: ${key} }
channels:
  - { name: eu, protocol: native, base_url: "https://a.example", key: ${key}, models: ["*"] }
`;
  const revisionOf = (yaml: string) => withFile(yaml).read().revision;

  test('is the same for the same settings, whatever the path, the order of fields and the secrets', () => {
    const { revision } = withFile(file('first-secret')).read();
    expect(revision).toMatch(/^[0-9a-f]{12}$/);
    expect(revisionOf(file('other-secret'))).toBe(revision);
    const [prices, ...rest] = file('first-secret')
      .replace('"*": 1, voxa-v2: 3', 'voxa-v2: 3, "*": 1')
      .split('\n');
    expect(revisionOf([...rest, prices, ''].join('\n'))).toBe(revision);
  });

  test('changes with a price', () => {
    expect(revisionOf(file('secret', 2))).not.toBe(revisionOf(file('secret')));
  });

  test('exists without a file', () => {
    expect(readSettings({}).revision).toMatch(/^[0-9a-f]{12}$/);
    expect(readSettings({ PORT: '1' }).revision).toBe(readSettings({}).revision);
  });
});

const emptyFile = join(folder, 'empty');
writeFileSync(emptyFile, '\n');

test.each([
  'channels: [{ key: *a-secret }]',
  'channels: [{ key: |a-secret }]',
  'callbacks: { secret: !a-secret a-secret } }',
  'callbacks:\n  secret: "a-secret" a-secret',
  'callbacks:\n  secret: a-secret: a-secret',
  'callbacks:\n secret: x\na-secret',
  'callbacks:\n\tsecret: a-secret',
])('invalid YAML is not quoted, because it may contain a secret: %j', (yaml) => {
  const { read } = withFile(`${yaml}\n`);
  expect(read).toThrow(/\.yaml:\d+: \w/);
  expect(read).not.toThrow(/a-secret|\n\n/);
});

describe('errors name the line and the problem', () => {
  const channel = (extra: string) => `sandbox: true
channels:
  - name: eu
    protocol: native
    base_url: https://upstream.example
    models: ["*"]
    ${extra}
`;
  test.each([
    ['an unknown setting', 'sandbox: true\nsandbocks: true\n', 2, /sandbocks is not a known setting/],
    ['a wrong type', channel('priority: high'), 7, /channels\.0\.priority must be integer/],
    [
      'an unknown protocol',
      channel('').replace('native', 'nativ'),
      4,
      /protocol must be equal to one of.*native, official/,
    ],
    ['a missing field', 'channels:\n  - name: eu\n    protocol: native\n    models: ["*"]\n', 2, /base_url/],
    ['an unset variable', channel('key: ${NOT_SET}'), 7, /NOT_SET is not set/],
    ['two keys', channel('key: one\n    key_file: two'), 8, /key and key_file exclude each other/],
    ['an unknown group', channel('groups: [nobody]'), 7, /there is no group nobody/],
    [
      'two channels of one name',
      `${channel('')}  - { name: eu, protocol: eta, base_url: "http://x", models: ["*"] }\n`,
      8,
      /two channels are named eu/,
    ],
    [
      'the name of a channel of the sandbox',
      channel('').replace('name: eu', 'name: sandbox-eta'),
      3,
      /sandbox-eta is the name of a channel of the sandbox/,
    ],
    ['a missing key file', channel('key_file: /none/key'), 7, /cannot read \/none\/key \(ENOENT\)/],
    ['a key file without a key', channel(`key_file: ${emptyFile}`), 7, /empty is empty/],
    [
      'a key with characters that are invalid in a header',
      channel('key: "two\\nlines"'),
      7,
      /the key of eu has characters/,
    ],
    ['an invalid URL', channel('ws_url: "ws://[x"'), 7, /ws_url is no address/],
    ['broken YAML', 'sandbox: [true\n', 2, /./],
    ['a database without connections', 'sandbox: true\ndatabase: { connections: 0 }\n', 2, /connections/],
    ['songs that are too short', 'sandbox: { song_seconds: 1 }\n', 1, /song_seconds/],
    ['tasks without a duration', 'sandbox: { task_seconds: 0 }\n', 1, /task_seconds/],
  ])('%s', (_name, yaml, line, message) => {
    const { path, read } = withFile(yaml);
    expect(read).toThrow(message);
    expect(read).toThrow(`${path}:${line}:`);
  });

  test.each([
    [{ PORT: '70000' }, /PORT must be a whole number from 0 to 65535/],
    [{ LOG_LEVEL: 'loud' }, /LOG_LEVEL must be one of/],
    [{ BOOTSTRAP_KEY: 'short' }, /BOOTSTRAP_KEY must be 8 to 256/],
    [{ TLS_CERT: '/nowhere' }, /TLS_CERT and TLS_KEY belong together/],
    [{ TLS_CERT: emptyFile, TLS_KEY: emptyFile }, /^TLS_CERT and TLS_KEY: [^\n]*$/],
    [{ CONFIG: '/nowhere.yaml' }, /CONFIG: cannot read/],
    [{ PUBLIC_URL: 'api.example.com' }, /^PUBLIC_URL must begin with http:\/\/ or https:\/\//],
    [{ PUBLIC_URL: 'ftp://api.example.com' }, /^PUBLIC_URL must begin with/],
    [{ PUBLIC_URL: 'https://api.example.com/?a=b' }, /^PUBLIC_URL must begin with/],
    [{ PUBLIC_URL: 'https://user:secret@api.example.com' }, /^PUBLIC_URL must begin with/],
    [{ PUBLIC_URL: 'https://' }, /^PUBLIC_URL must begin with/],
    [{ DATABASE_URL: 'mysql://u:secret@a/db' }, /^DATABASE_URL must begin with postgres:\/\//],
    [{ DATABASE_URL: 'u:secret@a/db' }, /^DATABASE_URL must begin with postgres:\/\//],
    [{ DATABASE_URL: 'postgres://u:secret@a:port/db' }, /^DATABASE_URL must have the form/],
    [{ DATABASE_URL: 'postgres://u:secret@a:1,b:99999/db' }, /^DATABASE_URL must have the form/],
    [{ DATABASE_URL: 'postgres://u:secret@a,,b/db' }, /^DATABASE_URL must have the form/],
    [{ DATABASE_URL: 'postgres://u:secret%e0@a/db' }, /^DATABASE_URL must have the form/],
    [
      { DATABASE_URL: 'postgres://u:secret@a,b/db?target_session_attrs=standby' },
      /^DATABASE_URL: target_session_attrs must be one of read-write, primary/,
    ],
    [{ DATABASE_LISTEN_URL: 'http://u:secret@a/db' }, /^DATABASE_LISTEN_URL must begin with/],
  ])('%o', (environment, message) => {
    expect(() => readSettings(environment)).toThrow(message);
    expect(() => readSettings(environment)).not.toThrow(/secret|\n/);
  });
});
