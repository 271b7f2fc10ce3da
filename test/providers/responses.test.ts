import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { Channel } from '../../server/channels/channel.ts';
import { isAccountError, isClientError } from '../../server/channels/failure-kinds.ts';
import {
  booleanField,
  countField,
  field,
  idField,
  integerField,
  numberField,
  objectField,
  pickDefined,
  textField,
  urlField,
} from '../../server/lib/json.ts';
import type { HttpResponse } from '../../server/outbound/send-request.ts';
import { isJson, isText, mediaType } from '../../server/providers/headers.ts';
import { ProviderRedactor } from '../../server/providers/provider-redactor.ts';
import {
  betaErrorSource,
  betaFailure,
  failureFromCode,
  isThrottling,
  parseError,
  providerFailure,
  readRejection,
  readUpTo,
  rejectionFailure,
} from '../../server/providers/rejection.ts';
import { countersOf, countIn, readUsage, usageOf } from '../../server/providers/token-usage.ts';
import { channelTo } from '../support/upstream.ts';

const redactor = new ProviderRedactor(new Channel(channelTo('http://127.0.0.1:1'), Date.now));

describe("a field of a provider's response", () => {
  const row = (read: (value: unknown, name: string) => unknown) => (found: unknown) =>
    read({ a: found }, 'a');

  test('is undefined if the value is not an object', () => {
    for (const value of [undefined, null, 7, 'text', true]) expect(field(value, 'length')).toBeUndefined();
    expect([field({ a: null }, 'a'), field([4], '0')]).toEqual([null, 4]);
  });

  test('as a text, a boolean or an object', () => {
    expect(['a', '', 7, null].map(row(textField))).toEqual(['a', undefined, undefined, undefined]);
    expect([true, false, 'true', 0].map(row(booleanField))).toEqual([true, false, undefined, undefined]);
    expect([{ b: 1 }, [1], null, 'x'].map(row(objectField))).toEqual([
      { b: 1 },
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('as a number, also as a text', () => {
    expect([1.5, '2.5', ' 3 ', 0, -1].map(row(numberField))).toEqual([1.5, 2.5, 3, 0, -1]);
    for (const none of ['', ' ', 'x', Number.NaN, Number.POSITIVE_INFINITY, null, true, [1]])
      expect(row(numberField)(none)).toBeUndefined();
    expect([1.5, '2', -1, 2 ** 53, 'x'].map(row(integerField))).toEqual([2, 2, -1, undefined, undefined]);
    expect([1.4, 0, -1, 'x'].map(row(countField))).toEqual([1, 0, undefined, undefined]);
  });

  test('as an id that can be stored and used in a path', () => {
    const id = row(idField);
    expect([id('task-1'), id('a.b'), id('x'.repeat(256))]).toEqual(['task-1', 'a.b', 'x'.repeat(256)]);
    for (const none of ['', '.', '..', '...', 'a\0b', '\ud800', 'x'.repeat(257), 7, undefined])
      expect(id(none), String(none)).toBeUndefined();
  });

  test('as a normalized URL', () => {
    const address = row(urlField);
    expect(address('HTTPS://Files.example/a b')).toBe('https://files.example/a%20b');
    expect(address('http://files.example')).toBe('http://files.example/');
    const longest = `https://files.example/${'x'.repeat(8_192 - 22)}`;
    expect([address(longest), address(`${longest}x`)]).toEqual([longest, undefined]);
    for (const none of ['', 'ftp://files.example/', 'xhttp://a/', 'httpsx://a/', '/a', 7])
      expect(address(none), String(none)).toBeUndefined();
  });

  test('omits undefined values', () => {
    const found: Record<string, unknown> = { a: 1, b: undefined, c: null };
    expect(pickDefined(['a', 'b', 'c', 'd'], (name) => found[name])).toEqual({ a: 1, c: null });
    expect(Object.keys(pickDefined(['b'], (name) => found[name]))).toEqual([]);
  });
});

test('media types', () => {
  const of = (type?: string) => (type === undefined ? {} : { 'content-type': type });
  expect(mediaType(of(' Application/JSON ; charset=utf-8'))).toBe('application/json');
  expect(mediaType(of())).toBe('');
  expect(
    [undefined, 'application/json', 'application/problem+json', 'application/ld.a-b+json'].map((type) =>
      isJson(of(type)),
    ),
  ).toEqual([true, true, true, true]);
  for (const type of ['text/json', 'application/jsonx', 'xapplication/json', 'application/xml', 'audio/mpeg'])
    expect(isJson(of(type)), type).toBe(false);
  for (const type of [
    'text/plain',
    'application/json',
    'application/a.b+json',
    'application/xml',
    'application/soap+xml',
    'application/javascript',
  ])
    expect(isText(of(type)), type).toBe(true);
  for (const type of [
    undefined,
    'audio/mpeg',
    'application/jsonx',
    'xtext/plain',
    'xapplication/json',
    'xapplication/javascript',
    'application/javascriptx',
    'application/octet-stream',
  ])
    expect(isText(of(type)), type).toBe(false);
});

describe('usage', () => {
  test('in tokens, from the first name with a valid count', () => {
    const report = { a: -1, b: 1.5, c: '7', d: 1e9 + 1, e: 0, f: 1e9 };
    expect(countIn(report, 'a', 'b', 'c', 'd')).toBeUndefined();
    expect([countIn(report, 'a', 'e', 'f'), countIn(report, 'f', 'e')]).toEqual([0, 1e9]);
    expect(countIn(null, 'a')).toBeUndefined();
    expect(usageOf(3, 4)).toEqual({ units: 7, inputTokens: 3, outputTokens: 4 });
    expect(countersOf(3, 4)).toEqual({
      prompt_tokens: 3,
      completion_tokens: 4,
      total_tokens: 7,
      input_tokens: 3,
      output_tokens: 4,
    });
  });

  test.each([
    ['characters', { characters: 5 }, { units: 5, inputTokens: 0, outputTokens: 0 }],
    ['characters', { characters: 5, input_tokens: 2 }, { units: 5, inputTokens: 2, outputTokens: 0 }],
    ['characters', { input_tokens: 2 }, undefined],
    ['characters', { characters: 0 }, { units: 0, inputTokens: 0, outputTokens: 0 }],
    ['characters', { characters: 1e9 }, { units: 1e9, inputTokens: 0, outputTokens: 0 }],
    ['characters', { characters: 1e9 + 1 }, undefined],
    ['characters', { characters: -1 }, undefined],
    ['characters', { characters: 1.5 }, undefined],
    ['characters', { characters: '5' }, undefined],
    ['tokens', { input_tokens: 2, output_tokens: 3 }, { units: 5, inputTokens: 2, outputTokens: 3 }],
    ['tokens', { input_tokens: 2 }, { units: 2, inputTokens: 2, outputTokens: 0 }],
    ['tokens', { output_tokens: 3 }, { units: 3, inputTokens: 0, outputTokens: 3 }],
    ['tokens', { characters: 5 }, undefined],
    ['tokens', null, undefined],
    ['tokens', 'none', undefined],
    ['tokens', undefined, undefined],
  ] as const)('of a native model in %s from %j', (unit, report, expected) => {
    expect(readUsage(unit, report)).toEqual(expected);
  });
});

describe("a provider's code", () => {
  test('about the account, throttling or the client', () => {
    const all = [
      'InvalidApiKey',
      'invalid_api_key',
      'AccessDenied',
      'access_denied.x',
      'Unauthorized',
      'authentication_error',
      'permission_error',
      'Arrearage',
      'billing_hard_limit',
      'insufficient_quota',
      'insufficient_user_quota',
      'InsufficientQuota',
      'AccountOverdueError',
    ];
    expect(all.filter((code) => !isAccountError(code))).toEqual([]);
    expect(
      ['Throttling.RateQuota', 'rate_limit', 'RateLimit', 'too_many', 'TooMany'].every(isThrottling),
    ).toBe(true);
    const blamed = [
      'InvalidParameter',
      'bad_request',
      'BadRequest',
      'DataInspectionFailed',
      'data_inspection',
    ];
    expect([...blamed, 'UnsupportedX', 'EmptyText'].every(isClientError)).toBe(true);
    for (const other of [
      '',
      'x',
      'NotInvalid',
      'xThrottling',
      'xaccess_denied',
      'my_billing',
      'InternalError',
    ])
      expect([isAccountError(other), isThrottling(other), isClientError(other)]).toEqual([
        false,
        false,
        false,
      ]);
  });

  test.each([
    ['{"code":"A","message":"B","type":"C"}', { code: 'A', message: 'B', type: 'C' }],
    ['{"error":{"code":"A","message":"B"},"code":"X"}', { code: 'A', message: 'B', type: undefined }],
    [`{"code":"A\\u0000\\u0007${'x'.repeat(300)}"}`, { code: `A${'x'.repeat(199)}` }],
    ['{"code":7}', { code: undefined, message: undefined, type: undefined }],
    ['invalid JSON', { code: undefined, message: undefined, type: undefined }],
    ['null', { code: undefined, message: undefined, type: undefined }],
  ])('is parsed from %s', (text, expected) => {
    expect(parseError(Buffer.from(text))).toMatchObject(expected);
  });
});

describe("a provider's rejection", () => {
  let dumped = false;
  const answer = (status: number, body = '{}', headers = {}) => {
    dumped = false;
    const read = Object.assign(Readable.from([Buffer.from(body)]), {
      dump: async () => {
        dumped = true;
      },
    });
    return { status, headers, body: read } as unknown as HttpResponse;
  };

  test('is read with its code, message and retry time', async () => {
    const body = '{"code":"InvalidParameter","message":"at 10.0.0.7"}';
    expect(await readRejection(answer(422, body, { 'retry-after': '7' }), redactor)).toEqual({
      status: 422,
      body: Buffer.from('{"code":"InvalidParameter","message":"at ***"}'),
      code: 'InvalidParameter',
      message: 'at ***',
      retryAfter: 7,
    });
    expect(dumped).toBe(false);
    expect(await readRejection(answer(400, 'no JSON'), redactor)).toMatchObject({
      status: 400,
      code: undefined,
    });
  });

  test.each([
    [500, 502],
    [503, 503],
    [504, 504],
    [401, 502],
    [402, 502],
    [403, 502],
    [302, 502],
    [399, 502],
  ])('with status %i, which is not about the request, fails with %i', async (status, expected) => {
    await expect(readRejection(answer(status), redactor)).rejects.toMatchObject({ status: expected });
    // Only the body of the provider's own failure is read, for native routes.
    expect(dumped).toBe(status < 500);
  });

  test.each([
    [
      '{"code":"Busy","message":"at 10.0.0.7","request_id":"r"}',
      { code: 'Busy', message: 'at ***', request_id: 'r' },
    ],
    ['{"code":"Busy","message":"No."}', { code: 'Busy', message: 'No.', request_id: undefined }],
    [
      '{"error":{"code":"Busy","message":"No."},"request_id":"r"}',
      { code: 'Busy', message: 'No.', request_id: 'r' },
    ],
    ['{"code":"Busy"}', undefined],
    ['{"code":"Arrearage","message":"Pay."}', undefined],
    ['<html>', undefined],
  ])('with status 500 keeps the native error body of %s', async (body, reported) => {
    await expect(readRejection(answer(500, body), redactor)).rejects.toEqual(
      expect.objectContaining({ status: 502, code: 'bad_response_status_code', reported }),
    );
  });

  test('with status 500 that breaks off fails without a body', async () => {
    const { headers } = answer(500);
    const body = Readable.from(
      (async function* () {
        yield Buffer.from('{"code"');
        throw new Error('aborted');
      })(),
    );
    const broken = { status: 500, headers, body } as unknown as HttpResponse;
    await expect(readRejection(broken, redactor)).rejects.toMatchObject({ status: 502, reported: undefined });
  });

  test.each(['{"code":"Arrearage"}', '{"type":"permission_error"}', '{"error":{"type":"billing"}}'])(
    'about our account, %s, fails',
    async (body) => {
      await expect(readRejection(answer(400, body), redactor)).rejects.toMatchObject({ status: 502 });
    },
  );

  test('is mapped by its status, or to 400', () => {
    const rejection = { body: Buffer.alloc(0), code: undefined, message: undefined, retryAfter: undefined };
    expect(rejectionFailure({ ...rejection, status: 422 })).toMatchObject({
      status: 400,
      code: 'bad_request',
      message: 'The provider rejected the request.',
    });
    expect(rejectionFailure({ ...rejection, status: 429, retryAfter: 9 })).toMatchObject({
      status: 429,
      code: 'rate_limit_exceeded',
      message: 'The provider takes no more requests now.',
      retryAfter: 9,
    });
    expect(rejectionFailure({ ...rejection, status: 429 })).toMatchObject({ retryAfter: 1 });
  });

  test('is read up to the limit', async () => {
    const chunks = ['ab', 'cd', 'ef'].map((text) => Buffer.from(text));
    const read = async (limit: number) => String(await readUpTo(Readable.from(chunks), limit));
    expect([await read(3), await read(4), await read(5), await read(99)]).toEqual([
      'abcd',
      'abcd',
      'abcdef',
      'abcdef',
    ]);
  });
});

describe('a failure of a provider', () => {
  test.each([
    [503, 503, 'get_channel_failed', 'The provider is not available now.', 4],
    [504, 504, 'upstream_timeout', 'The provider did not answer in time.', undefined],
    [500, 502, 'bad_response_status_code', 'The provider failed to handle the request.', undefined],
  ])('with status %i is mapped to %i', (status, expected, code, message, retryAfter) => {
    const { message: text, ...failure } = providerFailure(status, 4);
    expect([text, failure]).toEqual([
      message,
      expect.objectContaining({ status: expected, code, retryAfter }),
    ]);
  });

  test.each([
    ['Throttling', 'x', { status: 429 }],
    ['Arrearage', 'x', { status: 502 }],
    ['InternalError', 'x', { status: 502 }],
    [7, 'x', { status: 502 }],
    ['InvalidText', 'at 10.0.0.7', { status: 400, code: 'InvalidText', message: 'at ***' }],
    ['InvalidText', '', { status: 400, message: 'The provider rejected the request.' }],
    ['InvalidText', 7, { status: 400, message: 'The provider rejected the request.' }],
    [`Invalid${' y'.repeat(200)}`, 'x', { code: `Invalid${' y'.repeat(200)}`.slice(0, 200) }],
  ])('reported in an event: %j, %j', (code, message, expected) => {
    expect(failureFromCode(code, message, redactor)).toMatchObject(expected);
  });

  test('reported by a beta model', () => {
    const betaError = (status_code: unknown, status_msg?: string) =>
      betaFailure({ base_resp: { status_code, status_msg } }, redactor);
    for (const none of [0, '1004', undefined]) expect(betaError(none)).toBeUndefined();
    expect([betaFailure(undefined, redactor), betaFailure({}, redactor)]).toEqual([undefined, undefined]);
    expect(betaError(2013, 'at 10.0.0.7')).toMatchObject({ code: 'InvalidParameter', message: 'at ***' });
    expect(betaError(1042)).toMatchObject({ message: 'The provider rejected the request.' });
    const sourceOf = (code: number) => betaErrorSource({ base_resp: { status_code: code } });
    expect([1004, 1008, 2038, 2049].map(sourceOf)).toEqual(['account', 'account', 'account', 'account']);
    expect([1000, 1001, 1013].map(sourceOf)).toEqual(['provider', 'provider', 'provider']);
    expect([0, 1002, 2013].map(sourceOf)).toEqual([undefined, undefined, undefined]);
  });
});
