import { describe, expect, inject, test } from 'vitest';
import { clientEvents, type EventCase } from '../../client/conformance/limits/event-limits.ts';
import {
  validateInferenceClientEvent,
  validateRealtimeClientEvent,
} from '../../generated/event-validators.js';
import type { JsonObject } from '../../openapi/tools/document.ts';
import { connect } from '../support/socket-client.ts';
import type { Frame } from '../support/socket-upstream.ts';

const validators: Readonly<Record<string, (event: unknown) => boolean>> = {
  realtime: validateRealtimeClientEvent,
  inference: validateInferenceClientEvent,
};

describe.each(clientEvents)('$name', ({ channel, cases }) => {
  const validate = validators[channel];
  test.each(cases)('$title: takes a value at it and refuses one beyond', ({ at, beyond }) => {
    expect([validate?.(at), validate?.(beyond)]).toEqual([true, false]);
  });
});

/** What holds behind the contract for the model alone. */
const ruleOfModels = /is not a voice of|the model of this connection/;

/** The cases of an event but for its tag, without which it is another event. */
const casesOf = (name: string): readonly EventCase[] =>
  (clientEvents.find((one) => one.name === name)?.cases ?? []).filter(
    ({ field }) => !['type', 'header.action'].includes(field),
  );

const isRule = (event: Frame) => ruleOfModels.test(JSON.stringify(event));

describe.each(['mock', 'gateway'] as const)('%s', (target) => {
  const open = (path: string, model: string) => {
    const { url, key } = inject(target);
    return connect(`${url}${path}?model=${model}`, { key });
  };

  test('a realtime session takes events at each limit and refuses those beyond', async () => {
    const client = await open('/v1/realtime', 'alpha3-tts-instruct-flash-realtime');
    const problems: string[] = [];
    let sent = 0;
    const ask = async (event: JsonObject, field = '') => {
      sent += 1;
      client.send({ ...event, ...(field !== 'event_id' && { event_id: `event_${sent}` }) });
      return client.next(({ type }) => type === 'session.updated' || type === 'error');
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
    for (const { at, beyond } of casesOf('InputTextBufferAppend')) {
      expect(await ask(beyond)).toMatchObject({ type: 'error', error: { param: 'text' } });
      // Text is taken without a word, so the next answer is that to the update.
      client.send(at);
      expect(await ask(update)).toMatchObject({ type: 'session.updated' });
    }
    client.socket.terminate();
    expect(problems).toEqual([]);
  });

  test('a duplex session takes frames at each limit and fails a task beyond', async () => {
    const lastAnswer = async (...frames: JsonObject[]): Promise<Frame> => {
      const client = await open('/api-ws/v1/inference', 'voxa-v3-flash');
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
    const [start] = casesOf('RunTask').map(({ at }) => at);
    // Without a task id there is no task to fail.
    const isNameless = ({ field }: EventCase) => field === 'header.task_id';
    for (const { beyond } of casesOf('RunTask').filter(isNameless)) {
      const client = await open('/api-ws/v1/inference', 'voxa-v3-flash');
      client.send(beyond);
      expect(await client.closed).toMatchObject({ code: 1007 });
    }
    for (const { title, field, at, beyond } of casesOf('RunTask').filter((one) => !isNameless(one))) {
      const { event, error_message = '' } = headerOf(await lastAnswer(beyond));
      if (event !== 'task-failed' || !error_message.includes(field)) {
        problems.push(`beyond ${title}: ${event} ${error_message}`);
      }
      const taken = await lastAnswer(at);
      if (headerOf(taken).event !== 'task-started' && !isRule(taken)) {
        problems.push(`at ${title}: ${JSON.stringify(taken)}`);
      }
    }
    for (const { title, field, beyond } of [...casesOf('ContinueTask'), ...casesOf('FinishTask')]) {
      const { event, error_message = '' } = headerOf(await lastAnswer(start ?? {}, beyond));
      if (event !== 'task-failed' || !error_message.includes(field)) {
        problems.push(`beyond ${title}: ${event} ${error_message}`);
      }
    }
    expect(problems).toEqual([]);
  });
});
