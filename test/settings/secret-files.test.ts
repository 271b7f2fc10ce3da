import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readSettings, storeLocation } from '../../server/settings/settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'unigate-secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));

const write = (name: string, contents: string) => {
  const path = join(folder, name);
  writeFileSync(path, contents);
  return path;
};

describe('a secret is read from the file that NAME_FILE names', () => {
  test('without its last line break', () => {
    const key = (contents: string) =>
      readSettings({ BOOTSTRAP_KEY_FILE: write('bootstrap', contents) }).bootstrapKey;
    expect([key('sk-from-a-file'), key('sk-from-a-file\n'), key('sk-from-a-file\r\n')]).toEqual(
      Array(3).fill('sk-from-a-file'),
    );
    expect(() => key('sk-from-a-file\n\n')).toThrow(/^BOOTSTRAP_KEY must be 8 to 256/);
  });

  test('for the database and the headers of spans', () => {
    const path = write('database', 'postgres://u:p@a/db\n');
    expect(storeLocation({ DATABASE_URL_FILE: path }).databaseUrl).toBe('postgres://u:p@a/db');
    const settings = readSettings({
      DATABASE_URL_FILE: path,
      DATABASE_LISTEN_URL_FILE: path,
      WORKERS: '2',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example',
      OTEL_EXPORTER_OTLP_HEADERS_FILE: write('headers', 'x-token=one\n'),
    });
    expect(settings).toMatchObject({
      workers: 2,
      databaseUrl: 'postgres://u:p@a/db',
      databaseListenUrl: 'postgres://u:p@a/db',
      traces: { headers: { 'x-token': 'one' } },
    });
  });

  test('unless the variable itself has a value', () => {
    const path = write('bootstrap', 'sk-from-a-file');
    const read = (BOOTSTRAP_KEY: string) =>
      readSettings({ BOOTSTRAP_KEY, BOOTSTRAP_KEY_FILE: path }).bootstrapKey;
    expect([read('sk-of-the-variable'), read('')]).toEqual(['sk-of-the-variable', 'sk-from-a-file']);
  });
});

test('the secret of user assertions has at least 32 bytes and is read from a file', () => {
  const secret = 'a'.repeat(32);
  const read = (value: string) => readSettings({ USER_ASSERTION_SECRET: value }).userAssertionSecret;
  expect([read(secret), read('')]).toEqual([secret, undefined]);
  const path = write('assertion', `${secret}\n`);
  expect(readSettings({ USER_ASSERTION_SECRET_FILE: path }).userAssertionSecret).toBe(secret);
  for (const wrong of ['a'.repeat(31), `${secret} `, 'a'.repeat(1_025)])
    expect(() => read(wrong)).toThrow(
      'USER_ASSERTION_SECRET must be 32 to 1024 printable characters without spaces.',
    );
});

describe('a variable in the configuration file', () => {
  const config = write(
    'gateway.yaml',
    `callbacks: { secret: "\${CALLBACK_SECRET}" }
channels:
  - { name: eu, protocol: native, base_url: "https://a.example", key: "\${EU_KEY}", models: ["*"] }
`,
  );
  const environment = {
    CONFIG: config,
    CALLBACK_SECRET_FILE: join(folder, 'callbacks'),
    EU_KEY_FILE: join(folder, 'eu'),
  };

  test('can be in a file, which every read reads again', () => {
    write('callbacks', 'first-secret\n');
    write('eu', 'first-key\n');
    const read = () => {
      const { callbacks, channels } = readSettings(environment);
      return [callbacks.secret, channels[0]?.key];
    };
    expect(read()).toEqual(['first-secret', 'first-key']);
    write('callbacks', 'second-secret\n');
    write('eu', 'second-key\n');
    expect(read()).toEqual(['second-secret', 'second-key']);
  });

  test('whose file cannot be read is an error with the line, the variable and the path', () => {
    const EU_KEY_FILE = join(folder, 'none');
    expect(() => readSettings({ ...environment, EU_KEY_FILE })).toThrow(
      `${config}:3: EU_KEY_FILE: cannot read ${EU_KEY_FILE} (ENOENT).`,
    );
  });
});

test.each([
  ['BOOTSTRAP_KEY_FILE', join(folder, 'none'), 'cannot read PATH (ENOENT).'],
  ['DATABASE_URL_FILE', folder, 'cannot read PATH (EISDIR).'],
  ['BOOTSTRAP_KEY_FILE', write('empty', '\n'), 'PATH is empty.'],
])('%s of %s is refused', (variable, path, problem) => {
  expect(() => readSettings({ [variable]: path })).toThrow(`${variable}: ${problem.replace('PATH', path)}`);
});

test('the error of an invalid value does not contain it', () => {
  const path = write('database', 'mysql://u:hidden@a/db');
  expect(() => readSettings({ DATABASE_URL_FILE: path })).toThrow(/^DATABASE_URL must begin with/);
  expect(() => readSettings({ DATABASE_URL_FILE: path })).not.toThrow(/hidden/);
});
