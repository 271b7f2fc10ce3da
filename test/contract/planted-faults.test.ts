import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { runConformance } from '../../client/conformance/conformance.ts';
import {
  type Meddling,
  type MeddlingProxy,
  type Passed,
  startMeddlingProxy,
} from '../support/meddling-proxy.ts';

let proxy: MeddlingProxy;
beforeAll(async () => {
  proxy = await startMeddlingProxy(inject('gateway').url);
});
afterAll(() => proxy.close());

/** What the kit finds wrong with those operations behind the proxy. */
async function problemsOf(only: readonly string[], how: Meddling, timeoutMs = 20_000): Promise<string> {
  proxy.meddle(how);
  const { checks } = await runConformance({
    baseUrl: proxy.url,
    key: inject('gateway').key,
    only,
    runs: 3,
    seed: 1,
    timeoutMs,
    taskTimeoutMs: 20_000,
    triggers: 'off',
    admin: false,
    bodyLimitMb: inject('bodyLimitMb'),
  });
  expect(checks.length).toBeGreaterThan(3);
  const failed = checks.filter(({ outcome }) => outcome === 'failed');
  return failed.map(({ name, problems }) => `${name}: ${problems.join('\n')}`).join('\n');
}

type Body = Record<string, unknown>;
const json =
  (change: (body: Body) => Body) =>
  ({ body }: Passed) => ({
    body: JSON.stringify(change(JSON.parse(body) as Body)),
  });
const nameOf = (body: string) => (/"name":"([^"]*)"/.exec(body)?.[1] ?? '').length;
const isStream = ({ headers }: Passed) => String(headers['content-type']).startsWith('text/event-stream');
const data = (body: Body) => body.data as Body;

const broken = { status: 500, body: '{"success":false,"message":"Something broke."}' };

/** Each fault, the operation that has it, and how the kit tells it. */
const faults: [string, string, Meddling, RegExp][] = [
  [
    'no request id',
    'listModels',
    { answer: ({ headers }) => ({ headers: { ...headers, 'x-request-id': undefined } }) },
    /header x-request-id is missing/,
  ],
  [
    'another status for bad input',
    'countMessageTokens',
    { answer: ({ status }) => (status === 400 ? { status: 422 } : undefined) },
    /status 422 is not documented/,
  ],
  [
    'an error of the server at a limit',
    'createToken',
    { answer: (_answer, { body }) => (nameOf(body) === 50 ? broken : undefined) },
    /at name maxLength 50 is not taken: 500 Something broke/,
  ],
  [
    'a limit that is one further',
    'createToken',
    { request: ({ body }) => (nameOf(body) === 51 ? body.replace(/"name":"\w/, '"name":"') : undefined) },
    /beyond name maxLength 50 is answered with 200 instead of 400/,
  ],
  [
    'a wrong content type',
    'getHealth',
    { answer: ({ headers }) => ({ headers: { ...headers, 'content-type': 'text/plain' } }) },
    /content type text\/plain is not documented for 200/,
  ],
  [
    'a field of the wrong type',
    'searchLogs',
    {
      answer: (answer, { path }) =>
        path === '/api/log/search' && answer.status === 200
          ? json((body) => ({ ...body, data: { ...data(body), total: 'many' } }))(answer)
          : undefined,
    },
    /\/data\/total must be integer/,
  ],
  [
    'a list that does not tell its length',
    'listTokens',
    {
      answer: (answer, { method, path }) =>
        method === 'GET' && path === '/api/token/' && answer.status === 200
          ? json((body) => ({ ...body, data: { items: data(body).items } }))(answer)
          : undefined,
    },
    /must have required property 'total'/,
  ],
  [
    'an error in the form of another family',
    'countMessageTokens',
    {
      answer: (answer) =>
        answer.status === 400
          ? json(({ error }) => ({ success: false, message: (error as Body).message }))(answer)
          : undefined,
    },
    /400 malformed JSON: .*must have required property/,
  ],
  [
    'an event that is not documented',
    'createMessage',
    {
      answer: (answer) =>
        isStream(answer)
          ? {
              body: answer.body.replace(
                'event: message_delta',
                'event: surprise\ndata: {}\n\nevent: message_delta',
              ),
            }
          : undefined,
    },
    /no message is named surprise/,
  ],
  [
    'a stream without its last event',
    'createMessage',
    {
      answer: (answer) =>
        isStream(answer) ? { body: answer.body.replace(/event: message_stop\n[^]*$/, '') } : undefined,
    },
    /the last event does not end the stream/,
  ],
  [
    'an event of a socket that does not come',
    'openRealtimeSocketAlias',
    { keepsEvent: (event) => !event.includes('"response.output_item.done"') },
    /the event response\.output_item\.done did not come/,
  ],
  [
    'a task that goes back',
    'getOfficialVideo',
    {
      answer: (answer, { path }) =>
        path.includes('/generations/tasks/task_') && answer.body.includes('"status":"succeeded"') && often()
          ? json((body) => ({ ...body, status: 'running', content: undefined, usage: undefined }))(answer)
          : undefined,
    },
    /the task went from succeeded back to running/,
  ],
];

let times = 0;
/** Every second time. */
const often = () => {
  times += 1;
  return times % 2 === 0;
};

test('a server without a fault has none', { timeout: 120_000 }, async () => {
  const operations = [...new Set(faults.map(([, operation]) => operation))];
  expect(await problemsOf(operations, {})).toBe('');
});

test.each(faults)('%s is found', { timeout: 60_000 }, async (_title, operation, how, says) => {
  expect(await problemsOf([operation], how)).toMatch(says);
});

test('a request that is never answered is found', { timeout: 60_000 }, async () => {
  const hangs: Meddling = {
    hangs: ({ headers }) => headers.authorization === 'Bearer sk-wrong',
  };
  expect(await problemsOf(['getModel'], hangs, 2_000)).toMatch(
    /401 with a wrong key: no whole answer came within 2 seconds/,
  );
});
