import { describe, expect, test } from 'vitest';
import { startStubServer } from './stub-server.ts';
import { runCommand } from './terminal.ts';

type Responses = Record<string, [status: number, body: object]>;

const missing = { success: false, message: 'No.' };

/** Responds by method and path. Other requests get 404. */
async function startTaskServer(responses: Responses) {
  const calls: string[] = [];
  const url = await startStubServer(({ method, url: path = '' }, response) => {
    const call = `${method} ${path}`;
    calls.push(call);
    const [status, body] = responses[call] ?? [404, missing];
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  return { calls, env: { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' } };
}

const success = (data: object): [number, object] => [200, { success: true, message: '', data }];

describe('tasks list', () => {
  const task = (id: string, created_at: number) => ({ id, created_at, model: 'm', state: 'queued' });
  const page = (items: object[], last_id: string, has_more: boolean) => success({ items, last_id, has_more });

  test('prints the newest tasks, and reads further pages up to the limit', async () => {
    const { calls, env } = await startTaskServer({
      'GET /api/me/tasks?page_size=3': page([task('task_a', 3), task('task_b', 2)], 'task_b', true),
      'GET /api/me/tasks?page_size=3&after=task_b': page(
        [task('task_c', 1), task('task_d', 0)],
        'task_d',
        true,
      ),
    });
    const { stdout } = await runCommand(['tasks', 'list', '--limit', '3', '--json'], { env });
    expect((JSON.parse(stdout.toString()) as { id: string }[]).map(({ id }) => id)).toEqual([
      'task_a',
      'task_b',
      'task_c',
    ]);
    expect(calls).toHaveLength(2);
  });

  test('prints a row for each task', async () => {
    const { env } = await startTaskServer({
      'GET /api/me/tasks?page_size=20': page([task('task_a', 3)], 'task_a', false),
    });
    expect((await runCommand(['tasks', 'list'], { env })).stdout.toString()).toBe(
      'task_a  1970-01-01 00:00:03Z  m  queued\n',
    );
  });

  test('fails with an error of the gateway', async () => {
    const { env } = await startTaskServer({ 'GET /api/me/tasks?page_size=20': [401, missing] });
    expect(await runCommand(['tasks', 'list'], { env })).toMatchObject({ code: 1 });
  });
});

describe('tasks cancel', () => {
  test('cancels a native task', async () => {
    const { calls, env } = await startTaskServer({
      'GET /api/me/tasks/t': success({ format: 'native', state: 'queued', response: {} }),
      'POST /api/v1/tasks/t/cancel': [200, { request_id: 'r' }],
    });
    expect((await runCommand(['tasks', 'cancel', 't'], { env })).stdout.toString()).toBe('canceled\n');
    expect(calls.at(-1)).toBe('POST /api/v1/tasks/t/cancel');
  });

  test.each([
    ['queued', 0, 'DELETE /api/v3/contents/generations/tasks/t'],
    ['completed', 1, 'GET /api/me/tasks/t'],
    ['in_progress', 1, 'GET /api/me/tasks/t'],
  ])('of an official task that is %s', async (state, code, last) => {
    const { calls, env } = await startTaskServer({
      'GET /api/me/tasks/t': success({ format: 'official', state, response: {} }),
      'DELETE /api/v3/contents/generations/tasks/t': [204, {}],
    });
    expect(await runCommand(['tasks', 'cancel', 't'], { env })).toMatchObject({ code });
    expect(calls.at(-1)).toBe(last);
  });

  test('refuses a task of another format', async () => {
    const music = success({ format: 'music', state: 'queued', response: {} });
    const { env } = await startTaskServer({ 'GET /api/me/tasks/t': music });
    expect(await runCommand(['tasks', 'cancel', 't'], { env })).toMatchObject({
      code: 1,
      stderr: 'unigate: t cannot be canceled: the API format music has no operation for it.\n',
    });
  });
});

test('tasks show prints the fields of objects, and fails for a task that does not exist', async () => {
  const response = { id: 't', status: 'SUCCESS', buttons: [{ label: 'U1' }], failReason: null };
  const { env } = await startTaskServer({ 'GET /api/me/tasks/t': success({ format: 'image', response }) });
  const { stdout } = await runCommand(['tasks', 'show', 't'], { env });
  expect(stdout.toString()).toMatch(/^format +image\nid +t\nstatus +SUCCESS\nbuttons\.0\.label +U1\n$/);
  expect(await runCommand(['tasks', 'show', 'x'], { env })).toMatchObject({
    code: 1,
    stderr: 'unigate: There is no task x.\n',
  });
});
