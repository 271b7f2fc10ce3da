import { expect, test } from 'vitest';
import { InferenceTask } from '../../client/inference/inference-task.ts';
import { SessionUsage } from '../../client/realtime/session-usage.ts';
import type { InferenceServerEvent } from '../../generated/events.ts';

const tokens = (input: number, output: number) => ({
  input_tokens: input,
  output_tokens: output,
  total_tokens: input + output,
  input_tokens_details: { text_tokens: input },
  output_tokens_details: { text_tokens: 0, audio_tokens: output },
});

test('the usage in characters is the largest report, in any order', () => {
  const session = new SessionUsage();
  expect(session.usage).toBeUndefined();
  for (const [characters, total] of [
    [9, 9],
    [18, 18],
    [4, 18],
    [0, 18],
  ] as const) {
    session.add({ response: { id: 'r', usage: { characters } } });
    expect(session.usage).toEqual({ characters: total });
  }
});

test('the usage in tokens is the sum of the largest reports of all responses', () => {
  const session = new SessionUsage();
  for (const [id, usage] of [
    ['r1', tokens(1, 50)],
    ['r1', tokens(1, 70)],
    ['r2', tokens(3, 50)],
    ['r1', tokens(1, 60)],
  ] as const)
    session.add({ response: { id, usage } });
  expect(session.usage).toEqual(tokens(4, 120));
});

test('a report without usage changes nothing', () => {
  const session = new SessionUsage();
  session.add({ response: { id: 'r' } });
  expect(session.usage).toBeUndefined();
});

test.each([
  [{ characters: 9 }, { characters: 18 }, { characters: 4 }],
  [tokens(1, 50), tokens(2, 70), tokens(2, 60)],
])('the usage of a task is cumulative and never decreases: %j', (first, largest, outdated) => {
  const socket = {
    canPause: false,
    setPaused() {},
    fail() {},
    expectResponse() {},
    responseReceived() {},
    send: async () => {},
    requestId: undefined,
  };
  const task = new InferenceTask(socket as unknown as ConstructorParameters<typeof InferenceTask>[0]);
  for (const usage of [first, largest, outdated]) {
    const header = { task_id: task.id, event: 'result-generated', attributes: {} };
    task.handleEvent({ header, payload: { output: {}, usage } } as unknown as InferenceServerEvent, 1);
  }
  expect(task.usage).toEqual(largest);
});
