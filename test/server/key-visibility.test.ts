import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

interface Key {
  id: number;
  key: string;
}
interface List<Item> {
  data: { items: Item[]; total: number };
}
const names = ['owner', 'parent', 'child', 'descendant', 'sibling'] as const;
type Name = (typeof names)[number];

/** Keys of one user that each key sees. It also sees what they created. */
const visible: Readonly<Record<Name, readonly Name[]>> = {
  owner: names,
  parent: ['parent', 'child', 'descendant'],
  child: ['child', 'descendant'],
  descendant: ['descendant'],
  sibling: ['sibling'],
};

describe.each(engines)('on %s, a key', (engine) => {
  let target: TestGateway;
  const keys = new Map<Name, Key>();
  const tasks = new Map<Name, string>();
  /** Tasks with a callback. */
  const notifyingTasks = new Map<Name, string>();

  const send = async <Body>(method: string, path: string, name: Name, body?: object) => {
    const headers = { authorization: `Bearer ${keyOf(name).key}`, 'content-type': 'application/json' };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(target.url + path, init);
    return { status: response.status, body: (await response.json()) as Body };
  };
  const keyOf = (name: Name): Key => {
    const key = keys.get(name);
    if (key === undefined) throw new Error(`there is no key ${name}`);
    return key;
  };
  const create = async (creator: Name, name: Name, remain_quota: number) => {
    const created = await send<{ data: Key }>('POST', '/api/token/', creator, { name, remain_quota });
    expect(created.status, JSON.stringify(created.body)).toBe(200);
    keys.set(name, created.body.data);
  };
  const nameOf = (id: number) => names.find((name) => keyOf(name).id === id);

  beforeAll(async () => {
    target = await startTestGateway({}, engine);
    keys.set('owner', { id: 1, key: target.key });
    await create('owner', 'parent', 10_000_000);
    await create('parent', 'child', 5_000_000);
    await create('child', 'descendant', 2_000_000);
    await create('owner', 'sibling', 1_000_000);
    for (const name of names) {
      const video = { model: 'gamma3.0-video', prompt: `of ${name}` };
      const created = await send<{ id: string }>('POST', '/v1/videos', name, video);
      expect(created.status, JSON.stringify(created.body)).toBe(200);
      tasks.set(name, created.body.id);
      const withCallback = {
        model: 'epsilon-delta-2-0-fast-260128',
        content: [{ type: 'text', text: `of ${name}` }],
        callback_url: 'https://nowhere.invalid/hook',
      };
      const path = '/api/v3/contents/generations/tasks';
      const notifying = await send<{ id: string }>('POST', path, name, withCallback);
      expect(notifying.status, JSON.stringify(notifying.body)).toBe(200);
      notifyingTasks.set(name, notifying.body.id);
      const speech = { model: 'alpha3-tts-flash', voice: 'Aria', input: 'Hi.' };
      const headers = { authorization: `Bearer ${keyOf(name).key}`, 'content-type': 'application/json' };
      const speechReply = await fetch(`${target.url}/v1/audio/speech`, {
        method: 'POST',
        headers,
        body: JSON.stringify(speech),
      });
      await speechReply.arrayBuffer();
      expect(speechReply.status).toBe(200);
    }
  }, 60_000);
  afterAll(() => target.close());

  test.each(names)('%s: sees itself, its descendants and their tasks, and nothing else', async (name) => {
    const list = await send<{ data: { id: string }[] }>('GET', '/v1/videos', name);
    expect(list.body.data).toHaveLength(visible[name].length);
    expect(new Set(list.body.data.map(({ id }) => names.find((one) => tasks.get(one) === id)))).toEqual(
      new Set(visible[name]),
    );
    for (const other of names) {
      const { status } = await send('GET', `/v1/videos/${tasks.get(other)}`, name);
      expect(status, other).toBe(visible[name].includes(other) ? 200 : 404);
    }
    const own = await send<{ data: { items: { id: string; token_id: number }[] } }>(
      'GET',
      '/api/me/tasks',
      name,
    );
    expect(new Set(own.body.data.items.map(({ token_id }) => nameOf(token_id)))).toEqual(
      new Set(visible[name]),
    );
    // Each key created two tasks.
    expect(own.body.data.items).toHaveLength(2 * visible[name].length);
    for (const other of names) {
      const { status } = await send('GET', `/api/me/tasks/${tasks.get(other)}`, name);
      expect(status, other).toBe(visible[name].includes(other) ? 200 : 404);
    }
    const log = await send<{ data: { items: { token_id: number }[] } }>('GET', '/api/me/log', name);
    expect(new Set(log.body.data.items.map(({ token_id }) => nameOf(token_id)))).toEqual(
      new Set(visible[name]),
    );
    const csv = await fetch(`${target.url}/api/me/log?format=csv`, {
      headers: { authorization: `Bearer ${keyOf(name).key}` },
    });
    const [, ...lines] = (await csv.text()).trim().split('\r\n');
    expect(new Set(lines.map((line) => nameOf(Number(line.split(',')[4]))))).toEqual(new Set(visible[name]));
    const usage = await send<{ data: { items: { token_id: number; requests: number }[] } }>(
      'GET',
      '/api/me/usage?by=key&operation=createSpeech',
      name,
    );
    expect(
      new Map(usage.body.data.items.map(({ token_id, requests }) => [nameOf(token_id), requests])),
    ).toEqual(new Map(visible[name].map((one) => [one, 1])));
    for (const other of names) {
      const filtered = `/api/me/usage?operation=createSpeech&token_id=${keyOf(other).id}`;
      const { body } = await send<{ data: { sum: { requests: number } } }>('GET', filtered, name);
      expect(body.data.sum.requests, other).toBe(visible[name].includes(other) ? 1 : 0);
    }
    for (const other of names) {
      const { body } = await send<List<unknown>>('GET', `/api/log/search?token_id=${keyOf(other).id}`, name);
      expect(body.data.total > 0, other).toBe(visible[name].includes(other));
    }
    const { data } = (await send<List<Key & { created_by: number | null }>>('GET', '/api/token/', name)).body;
    expect(data.items).toHaveLength(visible[name].length);
    expect(new Set(data.items.map(({ id }) => nameOf(id)))).toEqual(new Set(visible[name]));
    expect(data.total).toBe(visible[name].length);
    // The creator of a key is omitted unless the caller sees it.
    const creators = data.items.flatMap(({ created_by }) => created_by ?? []);
    expect(creators.filter((id) => !visible[name].some((one) => keyOf(one).id === id))).toEqual([]);
    expect(data.items.find(({ id }) => id === keyOf('descendant').id)?.created_by ?? null).toBe(
      visible[name].includes('child') ? keyOf('child').id : null,
    );
  });

  test.each(names)('%s: lists the callbacks of its tasks and those of its descendants', async (name) => {
    await vi.waitFor(async () => {
      const { body } = await send<List<{ task_id: string }>>('GET', '/api/callbacks?page_size=1000', name);
      const { items, total } = body.data;
      expect(new Set(items.map(({ task_id }) => task_id))).toEqual(
        new Set(visible[name].map((one) => notifyingTasks.get(one))),
      );
      expect(total).toBe(items.length);
    });
  });

  test('owner: does not find the callbacks of deleted tasks', { timeout: 90_000 }, async () => {
    const list = async () => {
      const path = '/api/callbacks?page_size=1000';
      const { data } = (await send<List<{ task_id: string }>>('GET', path, 'owner')).body;
      expect(data.total).toBe(data.items.length);
      return data.items.map(({ task_id }) => task_id);
    };
    const id = notifyingTasks.get('sibling');
    await expect.poll(list).toContain(id);
    const path = `/api/v3/contents/generations/tasks/${id}`;
    // A running task cannot be deleted.
    await expect
      .poll(
        async () => {
          const headers = { authorization: `Bearer ${target.key}` };
          return (await fetch(target.url + path, { method: 'DELETE', headers })).status;
        },
        { timeout: 60_000 },
      )
      .toBe(204);
    expect(await list()).not.toContain(id);
  });

  test.each(names)('%s: searches the log of itself and its descendants', async (name) => {
    const search = async (query: string, size = 1_000) => {
      const { body } = await send<List<{ token_name: string; request_id: string }>>(
        'GET',
        `/api/log/search?page_size=${size}&${query}`,
        name,
      );
      return body.data;
    };
    const named = (one: Name): string => (one === 'owner' ? 'bootstrap' : one);
    const expected = visible[name].map(named).toSorted();
    await vi.waitFor(async () => {
      for (const query of ['', 'keyword=tts-flash', 'start=1', 'start=1&keyword=tts-flash&end=8000000000']) {
        const { items, total } = await search(query);
        expect([...new Set(items.map((item) => item.token_name))].toSorted()).toEqual(expected);
        expect(total).toBe(items.length);
      }
    });
    const all = await target.gateway.store.read
      .selectFrom('request_log')
      .select(['request_id', 'token_id'])
      .execute();
    for (const row of all) {
      const isVisible = visible[name].some((one) => keyOf(one).id === row.token_id);
      expect((await search(`keyword=${row.request_id}`)).total, row.request_id).toBe(isVisible ? 1 : 0);
    }
    for (const one of names)
      expect((await search(`keyword=${named(one)}`)).total > 0, one).toBe(visible[name].includes(one));
    const page = await search('p=2', 1);
    expect(page.items.every((item) => expected.includes(item.token_name))).toBe(true);
  });

  test('does not delete a key or a task that it does not see', async () => {
    for (const [name, hidden] of [
      ['child', 'parent'],
      ['sibling', 'parent'],
      ['parent', 'sibling'],
    ] as const) {
      const unknown = await send<object>('DELETE', '/api/token/999999', name);
      expect(unknown.status).toBe(404);
      expect(await send('DELETE', `/api/token/${keyOf(hidden).id}`, name)).toEqual(unknown);
      expect((await send('DELETE', `/v1/videos/${tasks.get(hidden)}`, name)).status).toBe(404);
    }
  });

  test('gets no task of another key for a repeated idempotency key', async () => {
    const createVideo = async (name: Name) => {
      const response = await fetch(`${target.url}/v1/videos`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${keyOf(name).key}`,
          'content-type': 'application/json',
          'idempotency-key': 'the same',
        },
        body: JSON.stringify({ model: 'gamma3.0-video', prompt: 'the same' }),
      });
      return ((await response.json()) as { id: string }).id;
    };
    const first = new Map<Name, string>();
    for (const name of names) first.set(name, await createVideo(name));
    expect(new Set(first.values()).size).toBe(names.length);
    for (const name of names) expect(await createVideo(name)).toBe(first.get(name));
  });
});
