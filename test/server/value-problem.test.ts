import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isObject, type Json } from '../../openapi/tools/document.ts';
import { valueProblem } from '../../server/http/value-problem.ts';
import { type DocumentedOperation, documentedOperations } from '../conformance/contract/documented.ts';
import { jsonOf } from '../conformance/wire/http-response.ts';
import { engines } from '../store/engines.ts';
import { exchange } from '../support/exchange.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

describe('what no field may hold', () => {
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
  ])('%o', (value, field, says) => {
    expect(valueProblem(value)).toEqual({ field, message: expect.stringContaining(says) });
  });

  test('everything else passes', () => {
    const text = 'héé こ 안 好 😀 \t\r\n \x7f \x85 \u2028 \ufeff \uffff';
    const value = { text, [text]: [0, -0, 1e300, null, true, '', {}, []], __proto__: { a: 'a\0b' } };
    expect(valueProblem(JSON.parse(JSON.stringify(value)))).toBeUndefined();
    expect(valueProblem(JSON.parse('['.repeat(101) + ']'.repeat(101)))).toBeUndefined();
    expect(valueProblem(undefined)).toBeUndefined();
  });
});

const operations = [...documentedOperations.values()].filter(({ aliasOf }) => aliasOf === undefined);

/** Every text in a value, and the value with another text in its place. */
function* replaced(value: Json, by: string, path: string[] = []): Generator<{ path: string[]; value: Json }> {
  if (typeof value === 'string') yield { path, value: by };
  if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) {
      for (const one of replaced(inner, by, [...path, String(index)]))
        yield { path: one.path, value: value.with(index, one.value) };
    }
  } else if (isObject(value)) {
    for (const [name, inner] of Object.entries(value)) {
      for (const one of replaced(inner, by, [...path, name]))
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

  /** Status and message of the answer, whose message must begin with the field. */
  const refused = async (
    operation: DocumentedOperation,
    sent: Parameters<typeof exchange>[2],
    field: string,
  ) => {
    const answer = await exchange(target, operation, sent);
    const told = jsonOf(answer) as { error?: { message: string }; message?: string };
    const message = told.error?.message ?? told.message ?? '';
    expect([answer.status, message], JSON.stringify(sent)).toEqual([
      400,
      expect.stringContaining(`${field}: `),
    ]);
  };

  test('a NUL is refused in every text of every body', async () => {
    let count = 0;
    for (const operation of operations) {
      const json = operation.requests.find(({ mediaType }) => mediaType === 'application/json');
      for (const example of json?.examples ?? []) {
        for (const { path, value } of replaced(example.value, 'a\0b')) {
          await refused(operation, { body: value }, path.join('.'));
          count += 1;
        }
      }
    }
    expect(count).toBeGreaterThan(200);
  });

  test('control characters are refused in every parameter of a path or query', async () => {
    for (const operation of operations) {
      for (const { name, in: place } of operation.parameters) {
        if (place === 'path') await refused(operation, { path: { [name]: 'a\0b' } }, name);
        if (place === 'query') await refused(operation, { query: { [name]: 'a\x1fb' } }, name);
      }
    }
  });

  test('numbers that nobody can count with are refused in every integer of a query', async () => {
    for (const operation of operations) {
      for (const { name, in: place, schema } of operation.parameters) {
        if (place === 'header' || schema.type !== 'integer') continue;
        for (const number of ['1e400', '1e300', '-1e400', '9007199254740993', '1.5', 'NaN', 'Infinity'])
          await refused(operation, { [place]: { [name]: number } }, name);
      }
    }
  });

  test.each(['1e400', '-1e400', '1e300', '2147483648', '0.5'])(
    'page_index: %s is refused',
    async (number) => {
      const operation = documentedOperations.get('customizeVoice') as DocumentedOperation;
      const action = (name: string) => `"input":{"action":"${name}","page_index":${number}}}`;
      await refused(
        operation,
        { body: `{"model":"voice-enrollment",${action('list_voice')}` },
        'input.page_index',
      );
      await refused(
        operation,
        { body: `{"model":"alpha-voice-enrollment",${action('list')}` },
        'input.page_index',
      );
    },
  );

  test('the last page that can be asked for is empty', async () => {
    const operation = documentedOperations.get('customizeVoice') as DocumentedOperation;
    const input = { action: 'list_voice', page_index: 2_147_483_647, page_size: 1000 };
    const answer = await exchange(target, operation, { body: { model: 'voice-enrollment', input } });
    expect([answer.status, jsonOf(answer)]).toMatchObject([200, { output: { voice_list: [] } }]);
  });

  test('a header cannot bring control characters in', async () => {
    const { status } = await raw(target.url, [
      'POST /v1/videos HTTP/1.1',
      'host: x',
      `authorization: Bearer ${target.key}`,
      'idempotency-key: a\0b',
      'content-length: 0',
    ]);
    expect(status).toBe(400);
  });
});

/** Sends the lines of a head as they are. */
function raw(url: string, lines: readonly string[]): Promise<{ status: number; text: string }> {
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
    const { status, text } = await raw(target.url, [`GET ${path} HTTP/1.1`, ...hosts]);
    expect(status).toBe(400);
    expect(text).toContain('"message":"host: must be sent once."');
  });

  test('are no matter with one', async () => {
    const { status } = await raw(target.url, ['GET /healthz HTTP/1.1', 'host: a', 'x-host: b']);
    expect(status).toBe(200);
  });
});
