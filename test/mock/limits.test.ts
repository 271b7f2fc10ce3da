import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../openapi/tools/document.ts';
import { limitRequests, shapeRequests } from '../conformance/checks/limits.ts';
import { documentedOperations } from '../conformance/contract/documented.ts';
import { exchange } from '../support/exchange.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { type Mock, startMock } from './server.ts';

let gateway: TestGateway;
let mock: Mock;
beforeAll(async () => {
  [gateway, mock] = await Promise.all([startTestGateway(), startMock({ taskMs: 1, paceMs: 0 })]);
}, 60_000);
afterAll(() => Promise.all([gateway.close(), mock.close()]));

const checkedSchemas = new Set<JsonObject>();
const operations = [...documentedOperations.values()].filter(({ aliasOf }) => aliasOf === undefined);

/** Requests that both servers reject, by operation. */
const rejected = operations.map((operation) => ({
  operation,
  requests: [
    ...limitRequests(operation, checkedSchemas).requests.filter(({ name }) => name.startsWith('beyond ')),
    ...shapeRequests(operation),
  ],
}));

test('the mock rejects the invalid requests of the conformance kit like the gateway', {
  timeout: 300_000,
}, async () => {
  const differences: string[] = [];
  let compared = 0;
  for (const { operation, requests } of rejected) {
    for (const { name, variation } of requests) {
      const send = async (target: { url: string; key: string }) => {
        const { status, body } = await exchange(target, operation, variation);
        return `${status} ${body.toString().replaceAll(/req_\w+/g, 'id')}`;
      };
      const [onGateway, onMock] = await Promise.all([
        send({ url: gateway.url, key: gateway.key }),
        send({ url: mock.url, key: 'sk-any' }),
      ]);
      compared += 1;
      if (onGateway !== onMock)
        differences.push(`${operation.id} ${name}: mock ${onMock}, gateway ${onGateway}`);
    }
  }
  expect(differences).toEqual([]);
  expect(compared).toBeGreaterThan(1000);
});
