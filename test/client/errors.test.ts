import { describe, expect, test } from 'vitest';
import * as errors from '../../client/errors.ts';
import { json, stubClient } from './stub-fetch.ts';

const { APIError } = errors;
const generic = { error: { code: 'model_not_found', message: 'model: unknown.', request_id: 'req_body' } };

async function failure(status: number, body: unknown, headers: Record<string, string> = {}) {
  const { client } = stubClient([json(body, status, headers)], { maxRetries: 0 });
  return client.models.list().then(
    () => expect.unreachable(),
    (error: unknown) => error,
  );
}

describe('error classes', () => {
  test.each([
    [400, errors.BadRequestError],
    [401, errors.AuthenticationError],
    [403, errors.PermissionDeniedError],
    [404, errors.NotFoundError],
    [409, errors.ConflictError],
    [413, errors.PayloadTooLargeError],
    [415, errors.UnsupportedMediaTypeError],
    [422, errors.UnprocessableEntityError],
    [429, errors.RateLimitError],
    [500, errors.InternalServerError],
    [501, errors.NotImplementedError],
    [502, errors.BadGatewayError],
    [503, errors.ServiceUnavailableError],
    [504, errors.GatewayTimeoutError],
  ])('%i', async (status, Class) => {
    const error = await failure(status, generic);
    expect(error).toMatchObject({ constructor: Class, name: Class.name, status, code: 'model_not_found' });
    expect(error).toBeInstanceOf(APIError);
    expect(error).toBeInstanceOf(errors.UnigateError);
  });

  test('every 5xx is an InternalServerError, an unknown 4xx an APIError', async () => {
    expect(await failure(503, generic)).toBeInstanceOf(errors.InternalServerError);
    expect(await failure(507, generic)).toMatchObject({
      constructor: errors.InternalServerError,
      status: 507,
    });
    expect(await failure(418, generic)).toMatchObject({ constructor: APIError, status: 418 });
  });
});

describe('error families', () => {
  test('generic', async () => {
    expect(await failure(404, generic)).toMatchObject({
      code: 'model_not_found',
      message: 'model: unknown.',
      requestId: 'req_body',
      body: generic,
    });
  });

  test('generic with the path of a field', async () => {
    const body = { error: { ...generic.error, param: 'input.text' } };
    expect(await failure(400, body)).toMatchObject({ param: 'input.text' });
    expect(await failure(404, generic)).toMatchObject({ param: undefined });
  });

  test('native: uses the id of the gateway instead of the id of the provider', async () => {
    const body = { code: 'InvalidParameter', message: 'No such voice.', request_id: '7c0f' };
    expect(await failure(400, body, { 'x-request-id': 'req_header' })).toMatchObject({
      code: 'InvalidParameter',
      message: 'No such voice.',
      requestId: 'req_header',
    });
    expect(await failure(400, body)).toMatchObject({ requestId: '7c0f' });
  });

  test('management', async () => {
    const error = await failure(
      403,
      { success: false, message: 'name: too long.' },
      { 'x-request-id': 'req_1' },
    );
    expect(error).toMatchObject({ code: undefined, message: 'name: too long.', requestId: 'req_1' });
  });

  test('messages', async () => {
    const error = { type: 'rate_limit_error', message: 'Slow down.' };
    expect(await failure(429, { type: 'error', error, request_id: 'req_2' })).toMatchObject({
      code: 'rate_limit_error',
      message: 'Slow down.',
      requestId: 'req_2',
    });
    expect(
      await failure(429, { type: 'error', error: { ...error, code: 'quota' } }, { 'request-id': 'req_3' }),
    ).toMatchObject({ code: 'quota', requestId: 'req_3' });
  });

  test.each([
    ['nothing', ''],
    ['null', null],
    ['an array', []],
    ['a wrong shape', { error: null }],
    ['wrong types', { error: { code: {}, message: [], request_id: false } }],
  ])('a body that is %s results in an error', async (_, body) => {
    expect(await failure(400, body)).toMatchObject({
      code: undefined,
      message: 'The gateway returned status 400.',
      requestId: undefined,
    });
  });

  test('uses the truncated text of a page', async () => {
    const { client } = stubClient(
      [() => new Response(`<h1>Bad gateway</h1>${'x'.repeat(9_000)}`, { status: 502 })],
      {
        maxRetries: 0,
      },
    );
    const error: unknown = await client.models.list().catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(errors.BadGatewayError);
    expect((error as Error).message).toMatch(/^<h1>Bad gateway<\/h1>x{480}$/);
  });
});

describe('invalid responses', () => {
  test('a page instead of JSON', async () => {
    const { client } = stubClient([() => new Response('<html>')]);
    await expect(client.models.list()).rejects.toThrow(
      new errors.UnigateError('The response of listModels is not JSON.'),
    );
  });

  test('the raw client returns errors', async () => {
    const { client } = stubClient([json(generic, 404)]);
    const { data, error, response } = await client.http.GET('/v1/models');
    expect({ data, error, status: response.status }).toEqual({
      data: undefined,
      error: generic,
      status: 404,
    });
  });
});
