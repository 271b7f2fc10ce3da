import type { JsonObject } from '../../../openapi/tools/document.ts';
import { clientEvents, type EventCase } from '../limits/event-limits.ts';
import { connect, type Frame } from '../sockets/socket-client.ts';
import { errorCodeOf } from '../sockets/socket-messages.ts';
import type { Seen } from '../subject/seen.ts';
import type { Target } from '../wire/answer.ts';

/** What holds behind the contract for the model alone. */
const ruleOfModels = /is not a voice of|the model of this connection/;

/** The cases of an event but for its tag, without which it is another event. */
const casesOf = (name: string): readonly EventCase[] =>
  (clientEvents().find((one) => one.name === name)?.cases ?? []).filter(
    ({ field }) => !['type', 'header.action'].includes(field),
  );

const isRule = (event: Frame) => ruleOfModels.test(JSON.stringify(event));

/** What a realtime session does wrong with events at each limit and beyond: the first it takes, the second not. */
export async function realtimeLimitProblems(
  { url, key }: Target,
  timeoutMs: number,
  seen: Seen,
): Promise<string[]> {
  const address = `${url}/v1/realtime?model=alpha3-tts-instruct-flash-realtime`;
  const client = await connect(address, { key, timeoutMs });
  const problems: string[] = [];
  let sent = 0;
  const ask = async (event: JsonObject, field = '') => {
    sent += 1;
    client.send({ ...event, ...(field !== 'event_id' && { event_id: `event_${sent}` }) });
    const answer = await client.next(({ type }) => type === 'session.updated' || type === 'error');
    seen.noteError('realtime', errorCodeOf(answer));
    return answer;
  };
  const update = { type: 'session.update', session: { voice: 'Aria', mode: 'commit' } };
  await ask(update);
  for (const { title, field, at, beyond } of casesOf('SessionUpdate')) {
    const refused = await ask(beyond, field);
    const param = (refused.error as { param?: string } | undefined)?.param;
    if (param !== field) problems.push(`beyond ${title}: ${JSON.stringify(refused)}`);
    const taken = await ask(at, field);
    if (taken.type === 'error' && !isRule(taken)) problems.push(`at ${title}: ${JSON.stringify(taken)}`);
  }
  await ask(update);
  for (const { title, at, beyond } of casesOf('InputTextBufferAppend')) {
    const refused = await ask(beyond);
    if (refused.type !== 'error') problems.push(`beyond ${title}: ${JSON.stringify(refused)}`);
    // Text is taken without a word, so the next answer is that to the update.
    client.send(at);
    const next = await ask(update);
    if (next.type !== 'session.updated') problems.push(`at ${title}: ${JSON.stringify(next)}`);
  }
  client.socket.terminate();
  return problems;
}

/** What the duplex socket does wrong with frames at each limit and beyond. */
export async function inferenceLimitProblems({ url, key }: Target, timeoutMs: number): Promise<string[]> {
  const address = `${url}/api-ws/v1/inference?model=voxa-v3-flash`;
  const lastAnswer = async (...frames: JsonObject[]): Promise<Frame> => {
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
  // Without a task id there is no task to fail.
  const isNameless = ({ field }: EventCase) => field === 'header.task_id';
  for (const { title, beyond } of starts.filter(isNameless)) {
    const client = await connect(address, { key, timeoutMs });
    client.send(beyond);
    const { code } = await client.closed;
    if (code !== 1007) problems.push(`beyond ${title}: closed with ${code} instead of 1007`);
  }
  const mustFail = async ({ title, field, beyond }: EventCase, ...before: JsonObject[]) => {
    const { event, error_message = '' } = headerOf(await lastAnswer(...before, beyond));
    if (event !== 'task-failed' || !error_message.includes(field))
      problems.push(`beyond ${title}: ${event} ${error_message}`);
  };
  for (const one of starts.filter((each) => !isNameless(each))) {
    await mustFail(one);
    const taken = await lastAnswer(one.at);
    if (headerOf(taken).event !== 'task-started' && !isRule(taken))
      problems.push(`at ${one.title}: ${JSON.stringify(taken)}`);
  }
  for (const one of [...casesOf('ContinueTask'), ...casesOf('FinishTask')]) await mustFail(one, start ?? {});
  return problems;
}
