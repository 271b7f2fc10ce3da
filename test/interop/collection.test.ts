import { runInNewContext } from 'node:vm';
import { Collection, type Item } from 'postman-collection';
import { afterAll, assert, beforeAll, chai, expect, test } from 'vitest';
import { operations } from '../../generated/operations.ts';
import { chains } from '../../openapi/tools/release/chains.ts';
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

/** Returns a body with the initial values of its variables. */
const withExamples = (body: string) =>
  body.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) =>
    String(collection.variables.all().find(({ key }) => key === name)?.value),
  );

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
      request.body?.raw ? JSON.parse(withExamples(request.body.raw)) : [],
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
async function send(item: Item, values: ReadonlyMap<string, string>): Promise<Response> {
  const fill = (text: string) =>
    text.replaceAll(/\{\{(\$?\w+)\}\}/g, (_, name: string) =>
      name === '$guid' ? crypto.randomUUID() : (values.get(name) ?? ''),
    );
  const { request } = item;
  const auth = item.getAuth();
  const token = auth?.type === 'bearer' ? fill(String(auth.parameters().get('token'))) : undefined;
  const form = new FormData();
  for (const { key, value } of request.body?.formdata?.all() ?? []) form.append(key, fill(String(value)));
  const body = request.body?.raw ? fill(request.body.raw) : [...form].length > 0 ? form : undefined;
  const headers = request.headers.all().flatMap(({ key, value, disabled }) => {
    return disabled ? [] : [[key, fill(String(value))] as [string, string]];
  });
  return fetch(fill(request.url.toString()), {
    method: request.method,
    headers: [
      ...headers,
      ...(token === undefined ? [] : [['authorization', `Bearer ${token}`] as [string, string]]),
    ],
    ...(body !== undefined && { body }),
  });
}

/** Runs the test script of a request with the part of Postman's interface that the scripts use. */
async function check(item: Item, response: Response, values: Map<string, string>) {
  const body = Buffer.from(await response.arrayBuffer());
  const failures: string[] = [];
  let repeat = false;
  const pm = {
    expect: chai.expect,
    test(name: string, verify: () => void) {
      try {
        verify();
      } catch (error) {
        failures.push(`${item.name} ${name}: ${String(error)} ${body.toString('utf8', 0, 300)}`);
      }
    },
    response: {
      code: response.status,
      headers: { get: (name: string) => response.headers.get(name) ?? undefined },
      json: () => JSON.parse(body.toString()) as unknown,
    },
    collectionVariables: { set: (name: string, value: string) => void values.set(name, value) },
    execution: {
      setNextRequest: () => {
        repeat = true;
      },
    },
    info: { requestId: 'id' },
  };
  for (const { script } of item.events.all())
    runInNewContext(script.exec.join('\n'), { pm, setTimeout: () => 0 });
  return { failures, repeat };
}

const startValues = () =>
  new Map([
    ...collection.variables.all().map(({ key, value }) => [key, String(value)] as const),
    ['baseUrl', gateway.url],
    ['apiKey', gateway.key],
  ]);

test('passes its own tests on a gateway when it runs in order', { timeout: 300_000 }, async () => {
  const values = startValues();
  const failures: string[] = [];
  for (const item of items) {
    const isDone = async () => {
      const result = await check(item, await send(item, values), values);
      if (!result.repeat) failures.push(...result.failures);
      return !result.repeat;
    };
    await expect.poll(isDone, { interval: 250, timeout: 60_000 }).toBe(true);
  }
  expect(failures).toEqual([]);
  // Every id comes from a response, except those of a sub-account and its key: the user has no wallet.
  const unchanged = chains.filter(({ variable, example }) => values.get(variable) === example);
  expect(unchanged.map(({ variable }) => variable)).toEqual(['accountId', 'accountTokenId']);
});

test('detects a wrong status, a missing field and a missing request id', async () => {
  const [item] = itemsOf('createEmbedding');
  assert(item);
  const headers = { 'x-request-id': 'req_1' };
  const valid = await send(item, startValues());
  const cases: [Response, RegExp][] = [
    [Response.json({ error: {} }, { status: 400, headers }), /The status is documented/],
    [Response.json({ object: 'list' }, { headers }), /all required fields/],
    [new Response(valid.body), /has a request id/],
  ];
  for (const [response, message] of cases) {
    const { failures } = await check(item, response, new Map());
    expect(failures).toEqual([expect.stringMatching(message)]);
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
