import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { callbackChecks } from '../conformance/checks/callbacks.ts';
import { silentDialogueChecks } from '../conformance/checks/dialogues.ts';
import { limitRequests, sendAll, shapeRequests } from '../conformance/checks/limits.ts';
import { runConformance } from '../conformance/conformance.ts';
import { createRunContext } from '../conformance/context/create-context.ts';
import { documented } from '../conformance/contract/documented.ts';
import { junitOf } from '../conformance/report/junit.ts';
import {
  type FaultInjectingProxy,
  type ProxyFault,
  type ProxyResponse,
  startFaultInjectingProxy,
} from '../support/fault-injecting-proxy.ts';
import { freePort } from '../support/free-port.ts';

let proxy: FaultInjectingProxy;
/** Proxy between the gateway and the callback receiver of the kit. */
let toReceiver: FaultInjectingProxy;
let receiverPort: number;
beforeAll(async () => {
  proxy = await startFaultInjectingProxy(inject('gateway').url);
  receiverPort = await freePort();
  toReceiver = await startFaultInjectingProxy(`http://127.0.0.1:${receiverPort}`);
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

/** Returns the problems that the kit reports for operations behind the proxy. */
async function problemsOf(only: readonly string[], fault: ProxyFault, timeoutMs = 20_000): Promise<string> {
  proxy.inject(fault);
  const { checks } = await runConformance({ ...options(), only, timeoutMs });
  expect(checks.length).toBeGreaterThan(2);
  const failed = checks.filter(({ outcome }) => outcome === 'failed');
  return failed.map(({ name, problems }) => `${name}: ${problems.join('\n')}`).join('\n');
}

/** Returns the problems that the kit reports for the callbacks of an image behind the proxy. */
async function problemsOfCallback(fault: ProxyFault): Promise<string> {
  proxy.inject({});
  toReceiver.inject(fault);
  const { context } = await createRunContext({
    ...options(),
    callbacksAt: toReceiver.url,
    callbacksPort: receiverPort,
  });
  const [check] = callbackChecks(documented('submitImagine'), context);
  const outcome = await check?.run();
  await context.receiver?.close();
  return outcome?.problems.join('\n') ?? 'no check';
}

/** Returns the problems that the kit reports for a socket with a silent client. */
async function problemsOfSilence(fault: ProxyFault): Promise<string> {
  proxy.inject(fault);
  const { context } = await createRunContext(options());
  const [check] = silentDialogueChecks(documented('openInferenceSocket'), context);
  const outcome = await check?.run();
  await context.receiver?.close();
  return outcome?.problems.join('\n') ?? 'no check';
}

type Body = Record<string, unknown>;
const json =
  (change: (body: Body) => Body) =>
  ({ body }: ProxyResponse) =>
    // A response to HEAD has no body.
    body === '' ? undefined : { body: JSON.stringify(change(JSON.parse(body) as Body)) };
const nameOf = (body: string) => (/"name":"([^"]*)"/.exec(body)?.[1] ?? '').length;
const isStream = ({ headers }: ProxyResponse) =>
  String(headers['content-type']).startsWith('text/event-stream');
const data = (body: Body) => body.data as Body;

/** The documented response of an accepted video. */
const acceptedVideo = JSON.stringify(
  documented('createVideo').responses.find(({ status }) => status === 200)?.content[0]?.examples[0]?.value,
);
const broken = { status: 500, body: '{"success":false,"message":"Something broke."}' };

/** Title, operation, fault and reported problem. */
const faults: [string, string, ProxyFault, RegExp][] = [
  [
    'a missing request id',
    'listModels',
    { response: ({ headers }) => ({ headers: { ...headers, 'x-request-id': undefined } }) },
    /header x-request-id is missing/,
  ],
  [
    'another status for bad input',
    'countMessageTokens',
    { response: ({ status }) => (status === 400 ? { status: 422 } : undefined) },
    /status 422 is not documented/,
  ],
  [
    'a server error at a limit',
    'createToken',
    { response: (_response, { body }) => (nameOf(body) === 50 ? broken : undefined) },
    /at name maxLength 50 is not accepted: 500 Something broke/,
  ],
  [
    'a limit that is off by one',
    'createToken',
    { request: ({ body }) => (nameOf(body) === 51 ? body.replace(/"name":"\w/, '"name":"') : undefined) },
    /beyond name maxLength 50 returns 200 instead of 400/,
  ],
  [
    'a wrong content type',
    'getHealth',
    { response: ({ headers }) => ({ headers: { ...headers, 'content-type': 'text/plain' } }) },
    /content type text\/plain is not documented for 200/,
  ],
  [
    'a field of the wrong type',
    'searchLogs',
    {
      response: (response, { path }) =>
        path === '/api/log/search' && response.status === 200
          ? json((body) => ({ ...body, data: { ...data(body), total: 'many' } }))(response)
          : undefined,
    },
    /\/data\/total must be integer/,
  ],
  [
    'a list without its total',
    'listTokens',
    {
      response: (response, { method, path }) =>
        method === 'GET' && path === '/api/token/' && response.status === 200
          ? json((body) => ({ ...body, data: { items: data(body).items } }))(response)
          : undefined,
    },
    /must have required property 'total'/,
  ],
  [
    'an error in the form of another family',
    'countMessageTokens',
    {
      response: (response) =>
        response.status === 400
          ? json(({ error }) => ({ success: false, message: (error as Body).message }))(response)
          : undefined,
    },
    /400 malformed JSON: .*must have required property/,
  ],
  [
    'an event that is not documented',
    'createMessage',
    {
      response: (response) =>
        isStream(response)
          ? {
              body: response.body.replace(
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
      response: (response) =>
        isStream(response) ? { body: response.body.replace(/event: message_stop\n[^]*$/, '') } : undefined,
    },
    /the last event does not end the stream/,
  ],
  [
    'a query parameter whose type is not checked',
    'listTokens',
    { query: (query) => query.replace('page_size=many', '') },
    /page_size "many" returns 200 instead of 400/,
  ],
  [
    'a server error for a path parameter of the wrong type',
    'deleteToken',
    { response: (_response, { path }) => (path.endsWith('/many') ? broken : undefined) },
    /id "many" returns 500 instead of 400/,
  ],
  [
    'a required header that is optional',
    'countMessageTokens',
    { headers: ({ headers }) => ({ 'compat-version': String(headers['compat-version'] ?? '2023-06-01') }) },
    /without compat-version returns 200 instead of 400/,
  ],
  [
    'a missing socket event',
    'openRealtimeSocketAlias',
    { event: (event) => (event.includes('"response.output_item.done"') ? undefined : event) },
    /the event response\.output_item\.done did not arrive/,
  ],
  [
    'a task whose state moves back',
    'getOfficialVideo',
    {
      response: (response, { path }) =>
        path.includes('/generations/tasks/task_') &&
        response.body.includes('"status":"succeeded"') &&
        everySecondCall()
          ? json((body) => ({ ...body, status: 'running', content: undefined, usage: undefined }))(response)
          : undefined,
    },
    /the task changed from succeeded back to running/,
  ],
];

let calls = 0;
/** Returns true on every second call. */
const everySecondCall = () => {
  calls += 1;
  return calls % 2 === 0;
};

test('reports no problem without a fault', { timeout: 120_000 }, async () => {
  const operations = [...new Set(faults.map(([, operation]) => operation))];
  expect(await problemsOf(operations, {})).toBe('');
});

test.each(faults)('reports %s', { timeout: 60_000 }, async (_title, operation, fault, problem) => {
  expect(await problemsOf([operation], fault)).toMatch(problem);
});

test('reports a request without a response', { timeout: 60_000 }, async () => {
  const hangs: ProxyFault = {
    hangs: ({ headers }) => headers.authorization === 'Bearer sk-wrong',
  };
  expect(await problemsOf(['getModel'], hangs, 2_000)).toMatch(
    /401 with a wrong key: no complete response within 2 s/,
  );
});

/** Returns the problems that the kit reports for video forms at their limits and of the wrong shape. */
async function problemsOfForms(fault: ProxyFault): Promise<string> {
  proxy.inject(fault);
  const { context, cleanUp } = await createRunContext(options());
  const operation = documented('createVideo');
  const form = { ...operation, requests: operation.requests.filter(({ mediaType }) => isForm(mediaType)) };
  const all = [
    ...limitRequests(form, new Set()).requests,
    ...shapeRequests(operation).filter(({ name }) => name.startsWith('a form')),
  ];
  const target = await context.keys.as('noQuota');
  const failed = await sendAll(all, (variation) => context.caller.send(target, operation, variation));
  await cleanUp.finish();
  await context.receiver?.close();
  return failed.map(({ name, problems }) => `${name} ${problems.join('\n')}`).join('\n');
}

const isForm = (type: unknown) => String(type).startsWith('multipart/form-data');

test('reports no problem for forms without a fault', { timeout: 60_000 }, async () => {
  expect(await problemsOfForms({})).toBe('');
});

test.each<[string, ProxyFault, RegExp]>([
  [
    'a server error for a truncated form',
    {
      response: (_response, { headers }) =>
        headers['content-type'] === 'multipart/form-data; boundary=x' ? broken : undefined,
    },
    /a form that is truncated \(500\)/,
  ],
  [
    'a limit that applies only to JSON',
    { response: ({ body }) => (body.includes('images') ? { status: 200, body: acceptedVideo } : undefined) },
    /beyond images\[\] maxItems 30 .*200/,
  ],
])('reports for forms: %s', { timeout: 60_000 }, async (_title, fault, problem) => {
  expect(await problemsOfForms(fault)).toMatch(problem);
});

test('reports no problem for callbacks without a fault', { timeout: 60_000 }, async () => {
  expect(await problemsOfCallback({})).toBe('');
});

test.each<[string, ProxyFault, RegExp]>([
  [
    'without its id',
    { headers: () => ({ 'webhook-id': undefined }) },
    /a delivery: header webhook-id is missing/,
  ],
  [
    'with the signature of another body',
    { request: ({ body }) => body.replace('"prompt"', '"prompts"') },
    /The signature of the delivery is invalid/,
  ],
  [
    'with another content type',
    { headers: () => ({ 'content-type': 'text/plain' }) },
    /content type text\/plain is not documented/,
  ],
  [
    'with an undocumented status',
    { request: ({ body }) => body.replace(/"(NOT_START|SUBMITTED|IN_PROGRESS)"/, '7') },
    /as ImageJobCallback: \/status must be/,
  ],
])('reports a callback %s', { timeout: 60_000 }, async (_title, fault, problem) => {
  expect(await problemsOfCallback(fault)).toMatch(problem);
});

test('lists a missing error code in the coverage table', { timeout: 60_000 }, async () => {
  const quota = { family: 'generic', status: 403, code: 'insufficient_user_quota' };
  const reported = async (fault: ProxyFault) => {
    proxy.inject(fault);
    const report = await runConformance({ ...options(), runs: 0, only: ['createEmbedding'] });
    return {
      cell: report.errors.find(
        ({ family, status, code }) =>
          family === quota.family && status === quota.status && code === quota.code,
      ),
      junit: junitOf(report),
    };
  };
  const row = /name="not covered: error generic 403 insufficient_user_quota"/;
  const complete = await reported({});
  expect(complete.cell).toEqual({ ...quota, covered: true });
  expect(complete.junit).not.toMatch(row);
  const faulty = await reported({
    response: ({ body }) => ({ body: body.replace('insufficient_user_quota', 'access_denied') }),
  });
  expect(faulty.cell).toEqual({ ...quota, covered: false, reason: expect.any(String) });
  expect(faulty.junit).toMatch(row);
});

test('reports a server that ends a silent task at once', { timeout: 60_000 }, async () => {
  const failed = (event: string) =>
    JSON.stringify({
      header: {
        task_id: (JSON.parse(event) as { header: { task_id: string } }).header.task_id,
        event: 'task-failed',
        error_code: 'CLIENT_ERROR',
        error_message: 'No text was received.',
        attributes: {},
      },
      payload: {},
    });
  const failEarly = (event: string) => (event.includes('result-generated') ? failed(event) : event);
  expect(await problemsOfSilence({ event: failEarly })).toMatch(
    /ends the task after [01]\.\d+ s of silence instead of 23 s/,
  );
});
