import type { StreamedEvent } from '../wire/streamed-event.ts';
import { valuesAt } from './vocabulary.ts';

type StreamRule = (events: readonly StreamedEvent[]) => string[];

const valuesIn = (events: readonly StreamedEvent[], path: string) =>
  events.flatMap(({ data }) => valuesAt(data, path).map(({ value }) => value));

/** A field has the same value in every event. */
const constant =
  (path: string): StreamRule =>
  (events) => {
    const values = [...new Set(valuesIn(events, path))];
    return values.length < 2 ? [] : [`id: ${path} changes from ${values.slice(0, 2).join(' to ')}`];
  };

/** A counter never decreases. */
const cumulative =
  (path: string): StreamRule =>
  (events) => {
    const values = valuesIn(events, path).map(Number);
    const wrong = values.findIndex((value, index) => index > 0 && value < (values[index - 1] ?? 0));
    return wrong < 0
      ? []
      : [`usage: ${path} is ${values[wrong]} after ${values[wrong - 1]}, which is not cumulative`];
  };

/** A stream that ends without an error has at least one value that is not empty. */
const result =
  (failure: readonly string[], ...paths: readonly string[]): StreamRule =>
  (events) =>
    events.some(({ event }) => failure.includes(event)) ||
    events.some(({ data }) => valuesAt(data, 'code').length > 0) ||
    valuesIn(events, 'base_resp.status_code').some((code) => code !== 0) ||
    valuesIn(events, 'output.base_resp.status_code').some((code) => code !== 0) ||
    paths.some((path) => valuesIn(events, path).some((value) => value !== '' && value !== 0))
      ? []
      : [`result: the stream ends without ${paths.join(' or ')}`];

/** The blocks of a message are numbered, and each ends. */
const blocks: StreamRule = (events) => {
  const of = (name: string) =>
    events.filter(({ event }) => event === name).flatMap(({ data }) => valuesAt(data, 'index'));
  const [starts, stops] = [of('content_block_start'), of('content_block_stop')].map((list) =>
    list.map(({ value }) => value),
  );
  return [
    ...((starts ?? []).every((value, index) => value === index)
      ? []
      : [`index: the blocks are numbered ${starts?.join(', ')}`]),
    ...(events.some(({ event }) => event === 'error') || starts?.join() === stops?.join()
      ? []
      : ['event: a block starts and does not end']),
  ];
};

/** Only the last event states the charge. */
const chargeAtEnd: StreamRule = (events) => {
  const charged = valuesIn(events.slice(0, -1), 'usage.cost');
  return charged.length === 0 ? [] : ['usage: an event before the last one has usage.cost'];
};

const nativeRules: readonly StreamRule[] = [
  constant('request_id'),
  cumulative('usage.characters'),
  chargeAtEnd,
  result(['error'], 'output.audio.data', 'data.audio', 'output.data.audio', 'audio'),
];

/** A run starts once and counts each of its checks. */
const completeRun: StreamRule = (events) => {
  const count = (name: string) => events.filter(({ event }) => event === name).length;
  const reported = valuesIn(events, 'report.checks[]').length;
  if (count('run_finished') === 0) return [];
  return [
    ...(events[0]?.event === 'run_started' && count('run_started') === 1
      ? []
      : ['event: a complete run does not start with run_started']),
    ...(count('check_finished') === reported
      ? []
      : [`report: it has ${reported} checks, and the stream ${count('check_finished')}`]),
  ];
};

/** Rules about the meaning of a stream, by its channel. */
const rules: Readonly<Record<string, readonly StreamRule[]>> = {
  speechStream: nativeRules,
  nativeSpeechStream: nativeRules,
  messagesStream: [
    blocks,
    cumulative('usage.output_tokens'),
    result(['error'], 'delta.text', 'delta.partial_json', 'delta.thinking'),
  ],
  conformanceRun: [completeRun],
};

/** Checks the meaning of a stream. Returns the violations. */
export const streamInvariantProblems = (channel: string, events: readonly StreamedEvent[]): string[] =>
  (rules[channel] ?? []).flatMap((rule) => rule(events));
