import { afterAll, beforeAll, expect, test } from 'vitest';
import { findRoute } from '../../server/http/routes.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
// The contract may have no deprecated operation. The gateway runs in this process.
const operation = findRoute('/v1/models')?.methods.get('get')?.operation;

beforeAll(async () => {
  Object.assign(operation ?? {}, { sunset: { since: '2026-11-01', date: '2027-05-31' } });
  gateway = await startTestGateway({ sandbox: false });
});
afterAll(async () => {
  Object.assign(operation ?? {}, { sunset: undefined });
  await gateway.close();
});

const headersOf = async (path: string, headers: Record<string, string>) => {
  const response = await fetch(`${gateway.url}${path}`, {
    headers: { origin: 'https://app.example', ...headers },
  });
  await response.arrayBuffer();
  return [response.status, response.headers.get('deprecation'), response.headers.get('sunset')];
};

test('every response of a deprecated operation has both headers', async () => {
  const expected = ['@1793491200', 'Mon, 31 May 2027 00:00:00 GMT'];
  expect(await headersOf('/v1/models', { authorization: `Bearer ${gateway.key}` })).toEqual([
    200,
    ...expected,
  ]);
  expect(await headersOf('/v1/models', {})).toEqual([401, ...expected]);
});

test('other responses have neither', async () => {
  expect(await headersOf('/healthz', {})).toEqual([200, null, null]);
  expect(await headersOf('/v1/nothing', {})).toEqual([404, null, null]);
});

test('pages can read both headers', async () => {
  const response = await fetch(`${gateway.url}/healthz`, { headers: { origin: 'https://app.example' } });
  expect(response.headers.get('access-control-expose-headers')?.split(', ')).toEqual(
    expect.arrayContaining(['deprecation', 'sunset']),
  );
});
