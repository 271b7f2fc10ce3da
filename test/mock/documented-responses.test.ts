import { afterAll, beforeAll, expect, test } from 'vitest';
import { documentedOperations } from '../conformance/contract/documented.ts';
import { schemaProblems } from '../conformance/contract/schemas.ts';
import { jsonOf, type Target } from '../conformance/wire/http-response.ts';
import { exchange } from '../support/exchange.ts';
import { assertConforms } from '../support/expectations.ts';
import { type Mock, startMock } from './server.ts';

let mock: Mock;
let target: Target;
beforeAll(async () => {
  mock = await startMock({ seed: 'one' });
  target = { url: mock.url, key: 'sk-any' };
});
afterAll(() => mock.close());

test.each([...documentedOperations])(
  '%s returns each documented example on request',
  async (_, operation) => {
    for (const { status, content } of operation.responses) {
      for (const { mediaType, examples } of content) {
        for (const { name, value } of examples) {
          const prefer = `code=${status}, example=${name}`;
          const response = await exchange(target, operation, { headers: { prefer, accept: mediaType } });
          expect(assertConforms(response, operation).status, prefer).toBe(status);
          if (/json/.test(mediaType)) expect(jsonOf(response), prefer).toEqual(value);
          else expect(response.body.toString(), prefer).toBe(value);
        }
      }
    }
  },
);

const successes = [...documentedOperations.values()]
  .filter(({ aliasOf }) => aliasOf === undefined)
  .flatMap((operation) =>
    operation.responses
      .filter(({ status }) => status >= 200 && status < 300)
      .flatMap(({ status, content }) =>
        content
          .filter(({ mediaType }) => mediaType === 'application/json')
          .map((media) => ({ status, media })),
      )
      .map((success) => ({ id: operation.id, operation, ...success })),
  );

test('generated responses match the schema and differ from the examples', async () => {
  let same = 0;
  for (const { id, operation, status, media } of successes) {
    const prefer = `code=${status}, dynamic=true`;
    const headers = { prefer, accept: 'application/json' };
    const response = assertConforms(await exchange(target, operation, { headers }), operation);
    const value = jsonOf(response);
    expect(schemaProblems(media, value), id).toEqual([]);
    const examples = media.examples.map((example) => JSON.stringify(example.value));
    if (examples.includes(JSON.stringify(value))) same += 1;
  }
  expect(successes.length).toBeGreaterThan(60);
  // Some schemas allow only one value.
  expect(same).toBeLessThan(successes.length / 10);
}, 180_000);

test('the same seed generates the same response, and another seed a different one', async () => {
  const other = await startMock({ seed: 'one', dynamic: true });
  const send = async (url: string, prefer?: string) => {
    const headers = { authorization: 'Bearer any', ...(prefer !== undefined && { prefer }) };
    return (await fetch(`${url}/api/admin/channels`, { headers })).text();
  };
  const first = await send(mock.url, 'dynamic=true');
  expect(await send(other.url)).toBe(first);
  expect(await send(mock.url, 'dynamic=true')).toBe(first);
  expect(await send(mock.url, 'dynamic=true, seed=two')).not.toBe(first);
  expect(await send(other.url, 'dynamic=false')).toBe(await send(mock.url));
  await other.close();
}, 60_000);
