import { type Failure, ProviderFailure } from '../../lib/failure.ts';
import { field, textField } from '../json.ts';
import type { ProviderRedactor } from '../provider-redactor.ts';
import { defaultRejection, providerFailure, throttledFailure } from '../rejection.ts';

/** Builds the failure for an error event, by the type that the provider reports. */
export function failureFromStreamError(data: unknown, redactor: ProviderRedactor): Failure {
  const error = field(data, 'error');
  switch (textField(error, 'type')) {
    case 'overloaded_error':
      return providerFailure(503);
    case 'timeout_error':
      return providerFailure(504);
    case 'rate_limit_error':
      return throttledFailure();
    case 'invalid_request_error':
    case 'request_too_large':
    case 'not_found_error':
      return new ProviderFailure(
        400,
        'bad_request',
        redactor.redact(textField(error, 'message') ?? defaultRejection),
      );
    default:
      // Includes errors about the gateway's account.
      return providerFailure(502);
  }
}
