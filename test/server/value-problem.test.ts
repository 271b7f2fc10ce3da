import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isObject, type Json } from '../../openapi/tools/document.ts';
import { valueProblem } from '../../server/http/value-problem.ts';
import { type DocumentedOperation, documentedOperations } from '../conformance/contract/documented.ts';
import { jsonOf } from '../conformance/wire/http-response.ts';
import { engines } from '../store/engines.ts';
import { exchange } from '../support/exchange.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

describe('forbidden values', () => {
  test.each<[unknown, string, string]>([
    ['a\0b', '', 'U+0000'],
    [{ a: 'tab\t line\r\n', b: 'bell\x07' }, 'b', 'U+0007'],
    [{ a: [{}, { b: '\x1f' }] }, 'a.1.b', 'U+001F'],
    [{ a: { ['n'.repeat(1_025)]: 1 } }, 'a', 'longer than 1024 characters'],
    [{ a: '\ud800' }, 'a', 'lone surrogate'],
    [{ a: 'x\udc00y' }, 'a', 'lone surrogate'],
    [{ a: { 'b\0': 1 } }, 'a', 'name'],
    [{ a: { '\ud800': 1 } }, 'a', 'name'],
    [JSON.parse('{"a":[1e400]}'), 'a.0', 'finite'],
    [JSON.parse('{"a":-1e400}'), 'a', 'finite'],
    [JSON.parse('['.repeat(102) + ']'.repeat(102)), '', '100 levels'],
  ])('%o', (value, field, expected) => {
    expect(valueProblem(value)).toEqual({ field, message: expect.stringContaining(expected) });
  });

  test('all other values are accepted', () => {
    const text = 'héé こ 안 好 😀 \t\r\n \x7f \x85 \u2028 \ufeff \uffff';
    const value = { text, [text]: [0, -0, 1e300, null, true, '', {}, []], __proto__: { a: 'a\0b' } };
    expect(valueProblem(JSON.parse(JSON.stringify(value)))).toBeUndefined();
    expect(valueProblem(JSON.parse('['.repeat(101) + ']'.repeat(101)))).toBeUndefined();
    expect(valueProblem(undefined)).toBeUndefined();
  });
});

const operations = [...documentedOperations.values()].filter(({ aliasOf }) => aliasOf === undefined);

/** Yields, for each string in a value, its path and the value with that string replaced. */
function* replaceStrings(
  value: Json,
  replacement: string,
  path: string[] = [],
): Generator<{ path: string[]; value: Json }> {
  if (typeof value === 'string') yield { path, value: replacement };
  if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) {
      for (const one of replaceStrings(inner, replacement, [...path, String(index)]))
        yield { path: one.path, value: value.with(index, one.value) };
    }
  } else if (isObject(value)) {
    for (const [name, inner] of Object.entries(value)) {
      for (const one of replaceStrings(inner, replacement, [...path, name]))
        yield { path: one.path, value: { ...value, [name]: one.value } };
    }
  }
}

describe.each(engines)('on %s', (engine) => {
  let target: TestGateway;
  beforeAll(async () => {
    target = await startTestGateway({}, engine);
  });
  afterAll(() => target.close());

  /** Expects a 400 whose message starts with the field. */
  const expectRefused = async (
    operation: DocumentedOperation,
    sent: Parameters<typeof exchange>[2],
    field: string,
  ) => {
    const response = await exchange(target, operation, sent);
    const errorBody = jsonOf(response) as { error?: { message: string }; message?: string };
    const message = errorBody.error?.message ?? errorBody.message ?? '';
    expect([response.status, message], JSON.stringify(sent)).toEqual([
      400,
      expect.stringContaining(`${field}: `),
    ]);
  };

  test('a NUL is refused in every string of every body', async () => {
    let count = 0;
    for (const operation of operations) {
      const json = operation.requests.find(({ mediaType }) => mediaType === 'application/json');
      for (const example of json?.examples ?? []) {
        for (const { path, value } of replaceStrings(example.value, 'a\0b')) {
          await expectRefused(operation, { body: value }, path.join('.'));
          count += 1;
        }
      }
    }
    expect(count).toBeGreaterThan(200);
  });

  test('control characters are refused in every path and query parameter', async () => {
    for (const operation of operations) {
      for (const { name, in: place } of operation.parameters) {
        if (place === 'path') await expectRefused(operation, { path: { [name]: 'a\0b' } }, name);
        if (place === 'query') await expectRefused(operation, { query: { [name]: 'a\x1fb' } }, name);
      }
    }
  });

  test('numbers outside the safe range are refused in every integer of a query', async () => {
    for (const operation of operations) {
      for (const { name, in: place, schema } of operation.parameters) {
        if (place === 'header' || schema.type !== 'integer') continue;
        for (const number of ['1e400', '1e300', '-1e400', '9007199254740993', '1.5', 'NaN', 'Infinity'])
          await expectRefused(operation, { [place]: { [name]: number } }, name);
      }
    }
  });

  test.each(['1e400', '-1e400', '1e300', '2147483648', '0.5'])(
    'page_index: %s is refused',
    async (number) => {
      const operation = documentedOperations.get('customizeVoice') as DocumentedOperation;
      const action = (name: string) => `"input":{"action":"${name}","page_index":${number}}}`;
      await expectRefused(
        operation,
        { body: `{"model":"voice-enrollment",${action('list_voice')}` },
        'input.page_index',
      );
      await expectRefused(
        operation,
        { body: `{"model":"alpha-voice-enrollment",${action('list')}` },
        'input.page_index',
      );
    },
  );

  test('the page with the highest index is empty', async () => {
    const operation = documentedOperations.get('customizeVoice') as DocumentedOperation;
    const input = { action: 'list_voice', page_index: 2_147_483_647, page_size: 1000 };
    const response = await exchange(target, operation, { body: { model: 'voice-enrollment', input } });
    expect([response.status, jsonOf(response)]).toMatchObject([200, { output: { voice_list: [] } }]);
  });

  test('a NUL in a header is refused', async () => {
    const { status } = await sendHead(target.url, [
      'POST /v1/videos HTTP/1.1',
      'host: x',
      `authorization: Bearer ${target.key}`,
      'idempotency-key: a\0b',
      'content-length: 0',
    ]);
    expect(status).toBe(400);
  });
});

/** Sends the lines of a request head unchanged. */
function sendHead(url: string, lines: readonly string[]): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`${lines.join('\r\n')}\r\nconnection: close\r\n\r\n`),
    );
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.on('close', () => resolve({ status: Number(text.split(' ')[1]), text }));
    socket.on('error', reject);
  });
}

describe('two Host headers', () => {
  let target: TestGateway;
  beforeAll(async () => {
    target = await startTestGateway({ sandbox: false, channels: [] });
  });
  afterAll(() => target.close());

  test.each([
    ['/v1/models', ['host: files.example', 'Host: files.example']],
    ['/healthz', ['host: a', 'accept: */*', 'HOST: b']],
    ['/none', ['host: a', 'host: b']],
  ])('are refused at %s', async (path, hosts) => {
    const { status, text } = await sendHead(target.url, [`GET ${path} HTTP/1.1`, ...hosts]);
    expect(status).toBe(400);
    expect(text).toContain('"message":"host: must be sent once."');
  });

  test('are not detected in other headers', async () => {
    const { status } = await sendHead(target.url, ['GET /healthz HTTP/1.1', 'host: a', 'x-host: b']);
    expect(status).toBe(200);
  });
});
