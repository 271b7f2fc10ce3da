import type { JsonObject } from '../../../openapi/tools/document.ts';
import type { Coverage } from '../context/coverage.ts';
import { clientEvents, type EventCase } from '../limits/event-cases.ts';
import { connect, type Frame } from '../sockets/socket-client.ts';
import { errorCodeOf } from '../sockets/socket-messages.ts';
import type { Target } from '../wire/http-response.ts';

/** Rules of the model that the schemas do not contain. */
const modelRules = /is not a voice of|the model of this connection/;

/** Returns the cases of an event, except those of its tag, which would select another event. */
const casesOf = (name: string): readonly EventCase[] =>
  (clientEvents().find((one) => one.name === name)?.cases ?? []).filter(
    ({ field }) => !['type', 'header.action'].includes(field),
  );

const isModelRule = (event: Frame) => modelRules.test(JSON.stringify(event));

/** Checks that a realtime session accepts events at each limit and rejects events beyond it. */
export async function realtimeLimitProblems(
  { url, key }: Target,
  timeoutMs: number,
  coverage: Coverage,
): Promise<string[]> {
  const address = `${url}/v1/realtime?model=alpha3-tts-instruct-flash-realtime`;
  const client = await connect(address, { key, timeoutMs });
  const problems: string[] = [];
  let sent = 0;
  const request = async (event: JsonObject, field = '') => {
    sent += 1;
    client.send({ ...event, ...(field !== 'event_id' && { event_id: `event_${sent}` }) });
    const response = await client.next(({ type }) => type === 'session.updated' || type === 'error');
    coverage.recordError('realtime', errorCodeOf(response));
    return response;
  };
  const update = { type: 'session.update', session: { voice: 'Aria', mode: 'commit' } };
  await request(update);
  for (const { title, field, at, beyond } of casesOf('SessionUpdate')) {
    const rejected = await request(beyond, field);
    const param = (rejected.error as { param?: string } | undefined)?.param;
    if (param !== field) problems.push(`beyond ${title}: ${JSON.stringify(rejected)}`);
    const accepted = await request(at, field);
    if (accepted.type === 'error' && !isModelRule(accepted))
      problems.push(`at ${title}: ${JSON.stringify(accepted)}`);
  }
  await request(update);
  for (const { title, at, beyond } of casesOf('InputTextBufferAppend')) {
    const rejected = await request(beyond);
    if (rejected.type !== 'error') problems.push(`beyond ${title}: ${JSON.stringify(rejected)}`);
    // The server does not acknowledge text, so the next response belongs to the update.
    client.send(at);
    const next = await request(update);
    if (next.type !== 'session.updated') problems.push(`at ${title}: ${JSON.stringify(next)}`);
  }
  client.socket.terminate();
  return problems;
}

/** Checks that the duplex socket accepts frames at each limit and rejects frames beyond it. */
export async function inferenceLimitProblems({ url, key }: Target, timeoutMs: number): Promise<string[]> {
  const address = `${url}/api-ws/v1/inference?model=voxa-v3-flash`;
  const lastResponse = async (...frames: JsonObject[]): Promise<Frame> => {
    const client = await connect(address, { key, timeoutMs });
    let last: Frame = {};
    for (const frame of frames) {
      client.send(frame);
      last = await client.next();
    }
    client.socket.terminate();
    return last;
  };
  const headerOf = (frame: Frame) => frame.header as { event?: string; error_message?: string };
  const problems: string[] = [];
  const starts = casesOf('RunTask');
  const [start] = starts.map(({ at }) => at);
  // Without a task id the server cannot send `task-failed`, so it closes the socket.
  const isTaskId = ({ field }: EventCase) => field === 'header.task_id';
  for (const { title, beyond } of starts.filter(isTaskId)) {
    const client = await connect(address, { key, timeoutMs });
    client.send(beyond);
    const { code } = await client.closed;
    if (code !== 1007) problems.push(`beyond ${title}: closed with ${code} instead of 1007`);
  }
  const checkFailure = async ({ title, field, beyond }: EventCase, ...before: JsonObject[]) => {
    const { event, error_message = '' } = headerOf(await lastResponse(...before, beyond));
    if (event !== 'task-failed' || !error_message.includes(field))
      problems.push(`beyond ${title}: ${event} ${error_message}`);
  };
  for (const one of starts.filter((each) => !isTaskId(each))) {
    await checkFailure(one);
    const accepted = await lastResponse(one.at);
    if (headerOf(accepted).event !== 'task-started' && !isModelRule(accepted))
      problems.push(`at ${one.title}: ${JSON.stringify(accepted)}`);
  }
  for (const one of [...casesOf('ContinueTask'), ...casesOf('FinishTask')])
    await checkFailure(one, start ?? {});
  return problems;
}
