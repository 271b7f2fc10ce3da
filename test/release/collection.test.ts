import { Collection, type Item } from 'postman-collection';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { operations } from '../../generated/operations.ts';
import { collectionOf } from '../../openapi/tools/release/collection.ts';
import { withoutAliases } from '../../openapi/tools/without-aliases.ts';
import { bundle, documented, documentedOperations } from '../conformance/contract/documented.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const json = collectionOf(withoutAliases(bundle));

/** The collection, parsed by Postman's library. */
const collection = new Collection(json);
const items: Item[] = [];
collection.forEachItem((item) => void items.push(item));

/** Operations except aliases and socket handshakes. */
const called = [...documentedOperations.values()].filter(
  ({ aliasOf, responses }) => aliasOf === undefined && responses.every(({ status }) => status !== 101),
);

const pathOf = (item: Item) => `/${item.request.url.path?.join('/').replaceAll(/:(\w+)/g, '{$1}')}`;
const itemsOf = (id: string) => {
  const { method, path } = documented(id);
  return items.filter((item) => item.request.method === method.toUpperCase() && pathOf(item) === path);
};

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.close());

test('has a request for each body example of an operation', () => {
  for (const { id, requests } of called) {
    const examples = requests.flatMap(({ examples }) => examples);
    expect(itemsOf(id).length, id).toBe(Math.max(1, examples.length));
    const sent = itemsOf(id).flatMap(({ request }) =>
      request.body?.raw ? JSON.parse(request.body.raw) : [],
    );
    const inJson = requests.filter(({ mediaType }) => mediaType === 'application/json');
    expect(sent, id).toEqual(inJson.flatMap(({ examples }) => examples.map(({ value }) => value)));
  }
  const known = new Set(called.map(({ id }) => itemsOf(id)).flat());
  expect(items.filter((item) => !known.has(item))).toEqual([]);
});

test('has each documented response with its status', () => {
  for (const { id, responses } of called) {
    const documentedOnes = responses.flatMap(({ status, content }) =>
      content.flatMap(({ examples }) => examples.map(() => status)),
    );
    const statuses = itemsOf(id).flatMap((item) => item.responses.all().map(({ code }) => code));
    expect(statuses, id).toEqual(documentedOnes);
  }
});

test('disables optional parameters and sets required ones', () => {
  for (const { id, parameters } of called) {
    for (const item of itemsOf(id)) {
      const { url, headers } = item.request;
      const lists = { query: url.query, header: headers, path: url.variables };
      for (const { name, in: place, required } of parameters) {
        const own = lists[place].all().filter(({ key }) => key.toLowerCase() === name.toLowerCase());
        expect(own.length, `${id} ${name}`).toBeGreaterThan(0);
        for (const one of own) {
          expect(one.disabled === true, `${id} ${name}`).toBe(!required);
          if (required) expect(one.value, `${id} ${name}`).not.toBe('');
        }
      }
    }
  }
});

/** Sends a request of the collection like Postman: with its variables and its authentication. */
async function send(item: Item): Promise<Response> {
  const values: Record<string, string> = { baseUrl: gateway.url, apiKey: gateway.key };
  for (const { key } of collection.variables.all()) expect(Object.keys(values)).toContain(key);
  const fill = (text: string) => text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '');
  const { request } = item;
  const auth = item.getAuth();
  const token = auth?.type === 'bearer' ? fill(String(auth.parameters().get('token'))) : undefined;
  const headers = request.headers.all().flatMap(({ key, value, disabled }) => {
    return disabled ? [] : [[key, fill(String(value))] as [string, string]];
  });
  return fetch(fill(request.url.toString()), {
    method: request.method,
    headers: [
      ...headers,
      ...(token === undefined ? [] : [['authorization', `Bearer ${token}`] as [string, string]]),
    ],
    ...(request.body?.raw && { body: fill(request.body.raw) }),
  });
}

test('works with two variables set', async () => {
  for (const item of itemsOf('createSpeech')) {
    const response = await send(item);
    expect(response.status, item.name).toBe(200);
    expect((await response.arrayBuffer()).byteLength, item.name).toBeGreaterThan(1000);
  }
  for (const id of ['listModels', 'createEmbedding', 'getHealth'] as const) {
    for (const item of itemsOf(id)) {
      const response = await send(item);
      expect(response.status, item.name).toBe(200);
      await response.arrayBuffer();
    }
  }
});

test('sends no key to operations without security', () => {
  for (const { id } of called) {
    const { security } = operations[id as keyof typeof operations];
    for (const item of itemsOf(id))
      expect(item.getAuth()?.type, id).toBe(security === 'none' ? 'noauth' : 'bearer');
  }
});

test('keeps its id, so that an import offers to replace the previous release', () => {
  const next = collectionOf({ ...bundle, info: { title: 'Unigate', version: '9.0.0' } });
  for (const one of [json, next])
    expect(one).toHaveProperty('info._postman_id', '6f0f7a52-6a0e-4d1c-9a53-2f5d1c0e7b90');
});
