import { Failure } from '../../lib/failure.ts';
import { field, textField } from '../json.ts';
import type { ProviderWords } from '../provider-words.ts';
import { aboutOurAccount, betaFailure, betaFault, reportedFailure } from '../rejection.ts';
import type { NativeEvent } from './events.ts';

/** What an event of a native stream says. */
export interface SpeechEvent {
  output: unknown;
  usage: unknown;
  /** Audio as text, or the address of all of it. */
  audio: boolean;
  /** No other follows, and all went well. */
  last: boolean;
  /** The synthesis has failed; as a client of the standard route sees it. */
  failure: Failure | undefined;
  /** The failure is about the gateway's own account, of which a client must not hear. */
  ours: boolean;
}

/** @throws Failure 502 when the event is not of the protocol. */
export function readSpeechEvent({ type, data }: NativeEvent, words: ProviderWords): SpeechEvent {
  const event = parse(data);
  const code = textField(event, 'code');
  const output = field(event, 'output');
  const failure =
    type === 'error' || code !== undefined
      ? reportedFailure(code, field(event, 'message'), words)
      : betaFailure(output, words);
  const alpha = field(output, 'audio');
  const beta = field(output, 'data');
  const audio = textField(alpha, 'data') ?? textField(alpha, 'url') ?? textField(beta, 'audio');
  const reason = textField(output, 'finish_reason') ?? 'null';
  const last = failure === undefined && (reason !== 'null' || field(beta, 'status') === 2);
  const ours = aboutOurAccount(code ?? '') || betaFault(output) === 'ours';
  return { output, usage: field(event, 'usage'), audio: audio !== undefined, last, failure, ours };
}

function parse(data: string): object {
  try {
    const event: unknown = JSON.parse(data);
    if (typeof event === 'object' && event !== null && !Array.isArray(event)) return event;
  } catch {
    // Thrown below.
  }
  throw new Failure(502, 'bad_response', 'The provider sent an event that makes no sense.');
}

/** What a stream is that ended before its last event. */
export function brokenOff(): Failure {
  return new Failure(502, 'bad_response', 'The provider broke the answer off.');
}
