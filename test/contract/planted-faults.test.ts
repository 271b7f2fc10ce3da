import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { callbackChecks } from '../../client/conformance/checks/callbacks.ts';
import { silentDialogueChecks } from '../../client/conformance/checks/dialogues.ts';
import { boundedRequests, misshapenRequests, tryAll } from '../../client/conformance/checks/limits.ts';
import { runConformance } from '../../client/conformance/conformance.ts';
import { documented } from '../../client/conformance/contract/documented.ts';
import { junitOf } from '../../client/conformance/report/junit.ts';
import { openWorld } from '../../client/conformance/subject/open-world.ts';
import { freePort } from '../support/free-port.ts';
import {
  type Meddling,
  type MeddlingProxy,
  type Passed,
  startMeddlingProxy,
} from '../support/meddling-proxy.ts';

let proxy: MeddlingProxy;
/** Between the gateway and the kit's own receiver. */
let toReceiver: MeddlingProxy;
let receiverPort: number;
beforeAll(async () => {
  proxy = await startMeddlingProxy(inject('gateway').url);
  receiverPort = await freePort();
  toReceiver = await startMeddlingProxy(`http://127.0.0.1:${receiverPort}`);
});
afterAll(async () => {
  await proxy.close();
  await toReceiver.close();
});

const options = () => ({
  baseUrl: proxy.url,
  key: inject('gateway').key,
  runs: 3,
  seed: 1,
  timeoutMs: 20_000,
  taskTimeoutMs: 20_000,
  triggers: 'off' as const,
  admin: false,
  bodyLimitMb: inject('bodyLimitMb'),
  callbackSecret: inject('callbackSecret'),
});

/** What the kit finds wrong with those operations behind the proxy. */
async function problemsOf(only: readonly string[], how: Meddling, timeoutMs = 20_000): Promise<string> {
  proxy.meddle(how);
  const { checks } = await runConformance({ ...options(), only, timeoutMs });
  expect(checks.length).toBeGreaterThan(2);
  const failed = checks.filter(({ outcome }) => outcome === 'failed');
  return failed.map(({ name, problems }) => `${name}: ${problems.join('\n')}`).join('\n');
}

/** What the kit finds wrong with the callbacks of a picture that come to it through a proxy. */
async function problemsOfCallback(how: Meddling): Promise<string> {
  proxy.meddle({});
  toReceiver.meddle(how);
  const { world } = await openWorld({
    ...options(),
    callbacksAt: toReceiver.url,
    callbacksPort: receiverPort,
  });
  const [check] = callbackChecks(documented('submitImagine'), world);
  const outcome = await check?.work();
  await world.receiver?.close();
  return outcome?.problems.join('\n') ?? 'there is no check';
}

/** What the kit finds wrong with a socket on which the client falls silent. */
async function problemsOfSilence(how: Meddling): Promise<string> {
  proxy.meddle(how);
  const { world } = await openWorld(options());
  const [check] = silentDialogueChecks(documented('openInferenceSocket'), world);
  const outcome = await check?.work();
  await world.receiver?.close();
  return outcome?.problems.join('\n') ?? 'there is no check';
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

/** A video that was taken. */
const made = JSON.stringify(
  documented('createVideo').responses.find(({ status }) => status === 200)?.content[0]?.examples[0]?.value,
);
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
    'a query parameter whose type is not looked at',
    'listTokens',
    { query: (query) => query.replace('page_size=many', '') },
    /page_size "many" is answered with 200 instead of 400/,
  ],
  [
    'an error of the server for a path parameter of the wrong type',
    'deleteToken',
    { answer: (_answer, { path }) => (path.endsWith('/many') ? broken : undefined) },
    /id "many" is answered with 500 instead of 400/,
  ],
  [
    'a header that may be missing',
    'countMessageTokens',
    { heads: ({ headers }) => ({ 'compat-version': String(headers['compat-version'] ?? '2023-06-01') }) },
    /without compat-version is answered with 200 instead of 400/,
  ],
  [
    'an event of a socket that does not come',
    'openRealtimeSocketAlias',
    { event: (event) => (event.includes('"response.output_item.done"') ? undefined : event) },
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

/** What the kit finds wrong with the forms of videos, at their limits and of the wrong shape. */
async function problemsOfForms(how: Meddling): Promise<string> {
  proxy.meddle(how);
  const { world, cleanUp } = await openWorld(options());
  const operation = documented('createVideo');
  const form = { ...operation, requests: operation.requests.filter(({ mediaType }) => isForm(mediaType)) };
  const all = [
    ...boundedRequests(form, new Set()).requests,
    ...misshapenRequests(operation).filter(({ name }) => name.startsWith('a form')),
  ];
  const target = await world.keys.as('penniless');
  const failed = await tryAll(all, (variation) => world.caller.send(target, operation, variation));
  await cleanUp.finish();
  await world.receiver?.close();
  return failed.map(({ name, problems }) => `${name} ${problems.join('\n')}`).join('\n');
}

const isForm = (type: unknown) => String(type).startsWith('multipart/form-data');

test('forms without a fault have none', { timeout: 60_000 }, async () => {
  expect(await problemsOfForms({})).toBe('');
});

test.each<[string, Meddling, RegExp]>([
  [
    'an error of the server for one that breaks off',
    {
      answer: (_answer, { headers }) =>
        headers['content-type'] === 'multipart/form-data; boundary=x' ? broken : undefined,
    },
    /a form that breaks off \(500\)/,
  ],
  [
    'a limit that only JSON has',
    { answer: ({ body }) => (body.includes('images') ? { status: 200, body: made } : undefined) },
    /beyond images\[\] maxItems 30 .*200/,
  ],
])('of forms %s is found', { timeout: 60_000 }, async (_title, how, says) => {
  expect(await problemsOfForms(how)).toMatch(says);
});

test('what is told of a task without a fault has none', { timeout: 60_000 }, async () => {
  expect(await problemsOfCallback({})).toBe('');
});

test.each<[string, Meddling, RegExp]>([
  [
    'without its id',
    { heads: () => ({ 'webhook-id': undefined }) },
    /a delivery: header webhook-id is missing/,
  ],
  [
    'that was signed as another',
    { request: ({ body }) => body.replace('"prompt"', '"prompts"') },
    /No signature of the delivery fits/,
  ],
  [
    'in another form',
    { heads: () => ({ 'content-type': 'text/plain' }) },
    /content type text\/plain is not documented/,
  ],
  [
    'with a status of no kind',
    { request: ({ body }) => body.replace('"IN_PROGRESS"', '7') },
    /as ImageJobCallback: \/status must be/,
  ],
])('a callback %s is found', { timeout: 60_000 }, async (_title, how, says) => {
  expect(await problemsOfCallback(how)).toMatch(says);
});

test('a code that is told no more is a row of the coverage table', { timeout: 60_000 }, async () => {
  const quota = { family: 'generic', status: 403, code: 'insufficient_user_quota' };
  const reported = async (how: Meddling) => {
    proxy.meddle(how);
    const report = await runConformance({ ...options(), runs: 0, only: ['createEmbedding'] });
    return {
      cell: report.errors.find(
        ({ family, status, code }) =>
          family === quota.family && status === quota.status && code === quota.code,
      ),
      junit: junitOf(report),
    };
  };
  const row = /classname="coverage\.error\.generic" name="generic 403 insufficient_user_quota"/;
  const good = await reported({});
  expect(good.cell).toEqual({ ...quota, seen: true });
  expect(good.junit).not.toMatch(row);
  const bad = await reported({
    answer: ({ body }) => ({ body: body.replace('insufficient_user_quota', 'access_denied') }),
  });
  expect(bad.cell).toEqual({ ...quota, seen: false, reason: expect.any(String) });
  expect(bad.junit).toMatch(row);
});

test('a server that has enough of a silence at once is found', { timeout: 60_000 }, async () => {
  const failed = (event: string) =>
    JSON.stringify({
      header: {
        task_id: (JSON.parse(event) as { header: { task_id: string } }).header.task_id,
        event: 'task-failed',
        error_code: 'CLIENT_ERROR',
        error_message: 'No text came.',
        attributes: {},
      },
      payload: {},
    });
  const hasty = (event: string) => (event.includes('result-generated') ? failed(event) : event);
  expect(await problemsOfSilence({ event: hasty })).toMatch(
    /has enough after [01]\.\d+ seconds of silence instead of 23/,
  );
});
