import { isAccountError } from '../../channels/failure-kinds.ts';
import { field, isObject, parseJson, textField } from '../../lib/json.ts';
import type { ProviderRedactor } from '../provider-redactor.ts';
import { betaErrorSource, betaFailure, failureFromCode } from '../rejection.ts';
import { badResponse } from '../unusable-response.ts';
import type { NativeEvent } from './events.ts';

export type SpeechEvent = ReturnType<typeof readSpeechEvent>;

/** @throws Failure 502 for an invalid event */
export function readSpeechEvent({ type, data }: NativeEvent, redactor: ProviderRedactor) {
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
    /** Whether the event has encoded audio, or the URL of the whole audio. */
    hasAudio: audio !== undefined,
    /** Whether this is the last event of a successful synthesis. */
    isLast: failure === undefined && (reason !== 'null' || field(beta, 'status') === 2),
    failure,
    /** Whether the failure concerns the gateway's account, which clients must not see. */
    isAccountError: isAccountError(code ?? '') || betaErrorSource(output) === 'account',
  };
}

export function incompleteStream() {
  return badResponse('The provider closed the connection before the end of the response.');
}
