import { describe, expect, test } from 'vitest';
import { PagePromise, requestIdOf, type Unigate } from '../../client/index.ts';
import { collect } from './socket-server.ts';
import { json, stubClient } from './stub-fetch.ts';

type List = (client: Unigate) => PagePromise<{ id?: unknown }, { items: unknown[]; total: number }>;

/** Responds with a page of a management list. */
const page = (ids: number[], total: number, requestId = 'req_1') =>
  json({ success: true, message: '', data: { items: ids.map((id) => ({ id })), total } }, 200, {
    'x-request-id': requestId,
  });

const queries = (fetch: ReturnType<typeof stubClient>['fetch']) =>
  fetch.mock.calls.map(([sent]) => new URL(sent.url).search);

const numbered: [string, List][] = [
  ['tokens.list', (client) => client.tokens.list({ page_size: 2 })],
  ['logs.search', (client) => client.logs.search({ page_size: 2 })],
  ['admin.users.list', (client) => client.admin.users.list({ page_size: 2 })],
  ['admin.groups.list', (client) => client.admin.groups.list({ page_size: 2 }) as ReturnType<List>],
  ['admin.tokens.list', (client) => client.admin.tokens.list({ page_size: 2 })],
  ['admin.channels.list', (client) => client.admin.channels.list({ page_size: 2 }) as ReturnType<List>],
  ['admin.tasks.list', (client) => client.admin.tasks.list({ page_size: 2 })],
  ['admin.deliveries.list', (client) => client.admin.deliveries.list({ page_size: 2 })],
  ['admin.changes.list', (client) => client.admin.changes.list({ page_size: 2 })],
];

describe.each(numbered)('%s', (_, list) => {
  test('yields the items of all pages', async () => {
    const { client, fetch } = stubClient([page([1, 2], 5), page([3, 4], 5), page([5], 5)]);
    const items = await collect(list(client));
    expect(items.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
    expect(queries(fetch)).toEqual(['?page_size=2', '?page_size=2&p=2', '?page_size=2&p=3']);
  });

  test('resolves to its first page', async () => {
    const { client, fetch } = stubClient([page([1, 2], 5)]);
    expect(await list(client)).toEqual({ items: [{ id: 1 }, { id: 2 }], total: 5 });
    expect(fetch).toHaveBeenCalledTimes(1);
  });
});

describe('a list', () => {
  test('starts at the page of its query', async () => {
    const { client, fetch } = stubClient([page([21], 41), page([41], 41)]);
    const ids = (await collect(client.tokens.list({ p: 2 }))).map(({ id }) => id);
    expect([ids, queries(fetch)]).toEqual([
      [21, 41],
      ['?p=2', '?p=3'],
    ]);
  });

  test('ends at an empty page, although the total promises more', async () => {
    const { client } = stubClient([page([1], 99), page([], 99)]);
    expect(await collect(client.tokens.list())).toHaveLength(1);
  });

  test('requests pages only on demand, and again for a second loop', async () => {
    const { client, fetch } = stubClient([page([1, 2], 4), page([3, 4], 4)]);
    const list = client.tokens.list({ page_size: 2 });
    for await (const { id } of list) if (id === 2) break;
    expect(fetch).toHaveBeenCalledTimes(1);
    expect(await collect(list)).toHaveLength(4);
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  test('yields its pages, with the request id of each', async () => {
    const { client } = stubClient([page([1], 2, 'req_1'), page([2], 2, 'req_2')]);
    const list = client.tokens.list({ page_size: 1 });
    expect((await collect(list.pages())).map(requestIdOf)).toEqual(['req_1', 'req_2']);
  });

  test('rejects with the error of a page', async () => {
    const { client } = stubClient([page([1], 2), json({ success: false, message: 'No.' }, 403)]);
    const ids: number[] = [];
    const loop = async () => {
      for await (const { id } of client.tokens.list({ page_size: 1 })) ids.push(id);
    };
    await expect(loop()).rejects.toThrow('No.');
    expect(ids).toEqual([1]);
  });

  test('is a promise', async () => {
    const { client } = stubClient([json({ success: false, message: 'No.' }, 403)]);
    const list = client.tokens.list();
    expect(list).toBeInstanceOf(PagePromise);
    expect(await list.then(String).catch((error: Error) => error.message)).toBe('No.');
  });
});

test('models are one page', async () => {
  const { client } = stubClient([json({ object: 'list', data: [{ id: 'm' }] })]);
  expect((await collect(client.models.list())).map(({ id }) => id)).toEqual(['m']);
});

test('tasks in the official format have pages of their own', async () => {
  const list = (ids: string[]) => json({ items: ids.map((id) => ({ id })), total: 3 });
  const { client, fetch } = stubClient([list(['a', 'b']), list(['c'])]);
  const tasks = client.officialVideos.list({ page_size: 2, 'filter.status': 'succeeded' });
  expect((await collect(tasks)).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  expect(queries(fetch)[1]).toBe('?page_size=2&filter.status=succeeded&page_num=2');
});

test('tasks in the official format end at the last page of the contract', async () => {
  const { client, fetch } = stubClient([json({ items: [{ id: 'a' }], total: 99_999 })]);
  expect(await collect(client.officialVideos.list({ page_num: 500 }))).toHaveLength(1);
  expect(fetch).toHaveBeenCalledTimes(1);
});
