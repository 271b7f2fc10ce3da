import { describe, expect, test } from 'vitest';
import { startStubServer } from './stub-server.ts';
import { runCommand } from './terminal.ts';

type Responses = Record<string, [status: number, body: object]>;

const missing = { error: { code: 'resource_not_found', message: 'No.' } };
const denied = { success: false, message: 'No.' };
const unknown = { output: { task_id: 't', task_status: 'UNKNOWN' } };

/** Responds by method and path. Other requests get 404. */
async function startTaskServer(responses: Responses) {
  const calls: string[] = [];
  const url = await startStubServer(({ method, url: path = '' }, response) => {
    const call = `${method} ${path.replace(/\?.*/, '')}`;
    calls.push(call);
    const [status, body] = responses[call] ?? [404, missing];
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  return { calls, env: { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' } };
}

describe('tasks list', () => {
  const video = (id: string, created_at: number) => ({ id, created_at, model: 'm', status: 'queued' });
  const logged = { task_id: 'task_c', created_at: 2, model_name: 'sigma_music', state: 'completed' };
  const sources: Responses = {
    'GET /v1/videos': [200, { object: 'list', data: [video('task_a', 3)], has_more: false }],
    'GET /api/v3/contents/generations/tasks': [200, { items: [video('task_b', 1)], total: 1 }],
    'GET /api/log/search': [
      200,
      {
        success: true,
        data: { items: [logged, { ...logged, task_id: 'task_a' }, { task_id: null }], total: 3 },
      },
    ],
  };

  test('merges the lists, newest first, and names a task once', async () => {
    const { env } = await startTaskServer(sources);
    const ids = async (...args: string[]) => {
      const { stdout } = await runCommand(['tasks', 'list', '--json', ...args], { env });
      return (JSON.parse(stdout.toString()) as { id: string }[]).map(({ id }) => id);
    };
    expect(await ids()).toEqual(['task_a', 'task_c', 'task_b']);
    expect(await ids('--limit', '2')).toEqual(['task_a', 'task_c']);
    expect((await runCommand(['tasks', 'list', '--limit', '1'], { env })).stdout.toString()).toBe(
      'task_a  1970-01-01 00:00:03Z  m  queued\n',
    );
  });

  test('omits a list that the key cannot read', async () => {
    const { env } = await startTaskServer({ ...sources, 'GET /api/log/search': [403, denied] });
    expect((await runCommand(['tasks', 'list'], { env })).stdout.toString()).not.toContain('task_c');
  });

  test('fails with any other error', async () => {
    const { env } = await startTaskServer({ ...sources, 'GET /api/log/search': [401, denied] });
    expect(await runCommand(['tasks', 'list'], { env })).toMatchObject({ code: 1 });
  });
});

describe('tasks cancel', () => {
  test('cancels a native task', async () => {
    const task = { output: { task_id: 't', task_status: 'PENDING' } };
    const { calls, env } = await startTaskServer({
      'GET /api/v1/tasks/t': [200, task],
      'POST /api/v1/tasks/t/cancel': [200, { request_id: 'r' }],
    });
    expect((await runCommand(['tasks', 'cancel', 't'], { env })).stdout.toString()).toBe('canceled\n');
    expect(calls.at(-1)).toBe('POST /api/v1/tasks/t/cancel');
  });

  test.each([
    ['queued', 0, 'DELETE'],
    ['succeeded', 1, 'GET'],
    ['running', 1, 'GET'],
  ])('of an official task that is %s', async (status, code, last) => {
    const { calls, env } = await startTaskServer({
      'GET /api/v3/contents/generations/tasks/t': [200, { id: 't', status }],
      'DELETE /api/v3/contents/generations/tasks/t': [204, {}],
    });
    expect(await runCommand(['tasks', 'cancel', 't'], { env })).toMatchObject({ code });
    expect(calls.at(-1)).toBe(`${last} /api/v3/contents/generations/tasks/t`);
  });
});

test('tasks show prints the fields of objects, and fails for a task that no path knows', async () => {
  const job = { id: 't', status: 'SUCCESS', buttons: [{ label: 'U1' }], failReason: null };
  const { env } = await startTaskServer({
    'GET /api/v1/tasks/t': [200, unknown],
    'GET /imgjob/task/t/fetch': [200, job],
  });
  const { stdout } = await runCommand(['tasks', 'show', 't'], { env });
  expect(stdout.toString()).toMatch(/^format +image\nid +t\nstatus +SUCCESS\nbuttons\.0\.label +U1\n$/);
  const other = await startTaskServer({ 'GET /api/v1/tasks/x': [200, unknown] });
  expect(await runCommand(['tasks', 'show', 'x'], other)).toMatchObject({
    code: 1,
    stderr: 'unigate: There is no task x.\n',
  });
});
