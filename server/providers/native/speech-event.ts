import type { Failure } from '../../lib/failure.ts';
import { field, isObject, parseJson, textField } from '../json.ts';
import type { ProviderRedactor } from '../provider-redactor.ts';
import { betaErrorSource, betaFailure, failureFromCode, isAccountError } from '../rejection.ts';
import { badResponse } from '../unusable-response.ts';
import type { NativeEvent } from './events.ts';

/** A parsed event of a native stream. */
export interface SpeechEvent {
  output: unknown;
  usage: unknown;
  /** Whether the event has encoded audio, or the URL of the whole audio. */
  hasAudio: boolean;
  /** Whether this is the last event of a successful synthesis. */
  isLast: boolean;
  /** Failure of the synthesis in the form of the standard route. */
  failure: Failure | undefined;
  /** Whether the failure concerns the gateway's account, which clients must not see. */
  isAccountError: boolean;
}

/** @throws Failure 502 for an invalid event */
export function readSpeechEvent({ type, data }: NativeEvent, redactor: ProviderRedactor): SpeechEvent {
  const event = parseJson(data);
  if (!isObject(event)) throw badResponse('The provider sent an invalid event.');
  const code = textField(event, 'code');
  const { output } = event;
  const failure =
    type === 'error' || code !== undefined
      ? failureFromCode(code, event.message, redactor)
      : betaFailure(output, redactor);
  const alpha = field(output, 'audio');
  const beta = field(output, 'data');
  const audio = textField(alpha, 'data') ?? textField(alpha, 'url') ?? textField(beta, 'audio');
  const reason = textField(output, 'finish_reason') ?? 'null';
  return {
    output,
    usage: event.usage,
    hasAudio: audio !== undefined,
    isLast: failure === undefined && (reason !== 'null' || field(beta, 'status') === 2),
    failure,
    isAccountError: isAccountError(code ?? '') || betaErrorSource(output) === 'account',
  };
}

/** Builds the failure for a stream that ended before its last event. */
export function incompleteStream(): Failure {
  return badResponse('The provider closed the connection before the end of the response.');
}
