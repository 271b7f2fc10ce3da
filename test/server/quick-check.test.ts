import { readFileSync } from 'node:fs';
import type { Request, Response } from 'express';
import { RequestValidator } from 'express-openapi-validator/dist/middlewares/openapi.request.validator.js';
import { afterEach, expect, test, vi } from 'vitest';
import { type OperationId, operations } from '../../generated/operations.ts';
import { contractValidator } from '../../server/http/contract.ts';

const validate = contractValidator(JSON.parse(readFileSync('generated/openapi.json', 'utf8')) as object);
const whole = vi.spyOn(RequestValidator.prototype, 'validate');
afterEach(() => whole.mockClear());

/** What the contract says of a request: what is wrong with it, or nothing. */
async function verdict(id: OperationId, request: Partial<Request>): Promise<unknown> {
  const { method, path } = operations[id];
  const asked = { method: method.toUpperCase(), url: path, originalUrl: path, path, headers: {}, query: {} };
  const call = { operation: { ...operations[id], id }, params: request.params ?? {} };
  return new Promise((resolve) =>
    validate({ ...asked, ...request, call } as unknown as Request, {} as Response, resolve),
  );
}

const speech = { model: 'voxa-v3-flash', input: 'Good morning.', voice: 'voxanna' };

test('what passes is asked the compiled tests alone, once they are made', async () => {
  expect(await verdict('createSpeech', { body: speech })).toBeUndefined();
  expect(whole).toHaveBeenCalledTimes(1);
  expect(await verdict('createSpeech', { body: speech })).toBeUndefined();
  expect(whole).toHaveBeenCalledTimes(1);
});

test('what does not pass is told by the validator itself', async () => {
  await verdict('createSpeech', { body: speech });
  whole.mockClear();
  expect(await verdict('createSpeech', { body: { ...speech, input: 7 } })).toMatchObject({
    status: 400,
    message: 'input: must be string.',
  });
  expect(whole).toHaveBeenCalledTimes(1);
});

test('headers and parts of the path are asked as well', async () => {
  const native = { model: 'voxa-v3-flash', input: { text: 'Good morning.', voice: 'voxanna' } };
  for (const value of ['enable', 'enable', 'perhaps']) {
    const said = await verdict('synthesizeSpeech', { body: native, headers: { 'x-native-sse': value } });
    if (value === 'enable') expect(said).toBeUndefined();
    else expect(said).toMatchObject({ status: 400, message: expect.stringContaining('x-native-sse') });
  }
  whole.mockClear();
  expect(await verdict('getVideo', { params: { task_id: 'task_1' } })).toBeUndefined();
  expect(await verdict('getVideo', { params: { task_id: 'task_1' } })).toBeUndefined();
  expect(whole).toHaveBeenCalledTimes(1);
  expect(await verdict('getVideo', { params: { task_id: 'x'.repeat(1000) } })).toMatchObject({ status: 400 });
});

test('an address with a query is read by the validator', async () => {
  const listed = { query: { limit: '5' }, url: '/v1/videos?limit=5', originalUrl: '/v1/videos?limit=5' };
  for (const times of [1, 2]) {
    expect(await verdict('listVideos', listed)).toBeUndefined();
    expect(whole).toHaveBeenCalledTimes(times);
  }
});
